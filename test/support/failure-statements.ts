import { lifecycle, type Pawl } from "pawl";
import { z } from "zod";
import { checkParents } from "../../src/kernel/family/check-parents.ts";
import type { Kernel } from "../../src/kernel/kernel.ts";
import { releaseParked } from "../../src/kernel/move/release.ts";

function throwing(): never {
  throw new Error("out of order");
}

/** Released in turns: most continue, some refuse, one throws. */
const parked = lifecycle("plans_parked", {
  data: z.object({ kind: z.enum(["free", "held", "broken"]) }),
  initial: "parked",
  states: {
    parked: {
      release: { interval: "1ms", limit: 1_000, send: "go" },
      on: {
        go: {
          to: "done",
          guard: ({ data }) => data.kind !== "held" || "it is held back",
          before: ({ data }) => (data.kind === "broken" ? throwing() : undefined),
        },
        leave: "done",
        poke: { guard: throwing },
      },
    },
    done: { final: "success" },
  },
});

/** Its `joined` throws, so that a timer retries it. */
const joining = lifecycle("plans_joining", {
  initial: "joining",
  states: { joining: { join: {}, on: { joined: { to: "done", guard: throwing } } }, done: { final: "success" } },
});

export const failing = [parked, joining];

/**
 * Releases that refuse, throw and fail permanently; calls that throw; events of Pawl's own that are retried; lists by
 * reason.
 */
export async function everyStatementOfFailures(pawl: Pawl, kernel: Kernel): Promise<void> {
  const kinds = ["free", "held", "held", "broken"] as const;
  const made = await pawl.startMany(
    parked,
    Array.from({ length: 20 }, (_, n) => ({ data: { kind: kinds[n % kinds.length]! } })),
  );
  const givenUp = async () =>
    (await pawl.deadLetters.list({ lifecycle: parked })).some((one) => one.instance === made[3]!.id);
  for (let turn = 0; turn < 100 && !(await givenUp()); turn++) await releaseParked(kernel);
  await pawl.sendMany(
    parked,
    [1, 2].map((n) => ({ to: { id: made[n]!.id }, event: "leave" as const })),
  );
  await releaseParked(kernel); // Those that have left are deleted.
  await pawl.send(parked, { id: made[5]!.id }, "poke").catch(() => {});
  await pawl.transaction((tx) => pawl.send(parked, { id: made[5]!.id }, "poke", { tx }).catch(() => {}));
  await pawl.start(joining, {});
  await checkParents(kernel, 100);
  await pawl.sendMany(joining, [{ to: { id: (await pawl.start(joining, {})).id }, event: "fail" }]);
  await checkParents(kernel, 100);
  await pawl.list(joining, { failure: "fail" });
  await pawl.list(joining, { failure: "fail", state: "failed" });
}
