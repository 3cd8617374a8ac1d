import { lifecycle, type Pawl } from "pawl";
import { z } from "zod";
import { matchDueCallbacks } from "../../../src/kernel/callbacks/receive.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { claimFromLanes } from "../../../src/kernel/tasks/claim.ts";
import { report } from "../../../src/kernel/tasks/report.ts";
import { postponeCallbacks, reopenCallbacks } from "../../../src/store/callbacks/callbacks.ts";
import { run } from "../../../src/worker/steps/run.ts";

let token = "";

/** Graded from outside, with a timeout of zero or none. */
export const graded = lifecycle("graded", {
  data: z.object({ within: z.string() }),
  events: { result: z.object({ score: z.number() }) },
  initial: "asking",
  deadline: { within: ({ data }) => data.within as "1ms" },
  states: {
    asking: {
      run: async (step) => {
        token = await step.callbackToken("result");
      },
      on: { asked: "waiting" },
    },
    waiting: { on: { result: "done" } },
    done: { final: "success" },
  },
});

/** Results early, in time, twice, late, by a token, and one that is accepted. */
export async function everyStatementOfCallbacks(pawl: Pawl, kernel: Kernel): Promise<void> {
  const named = (within: string, count: number) =>
    Array.from({ length: count }, () => ({ key: `c${kernel.newId()}`, data: { within } }));
  const [slow, late] = [named("1h", 20), named("1ms", 5)];
  await pawl.startMany(graded, [...slow, ...late]);
  const receive = ({ key }: { key: string }) => pawl.receive(graded, key, "result", { score: 7 }, { dedupeKey: "r" });
  await Promise.all(slow.slice(0, 10).map(receive));
  const tasks = await claimFromLanes(kernel, {
    lanes: ["graded@1/asking"],
    limit: 50,
    share: 50,
    worker: "w",
    leaseMs: 30_000,
  });
  const abort = new AbortController();
  const outcomes = await Promise.all(tasks.map((one) => run(kernel, one, { abort, log: () => {} })));
  await report(
    kernel,
    tasks.map((one, index) => ({ task: one, outcome: outcomes[index]! })),
  );
  await Promise.all(slow.map(receive));
  await pawl.callbacks.receiveByToken(token, { payload: { score: 7 } });
  const kept = await Promise.all(late.map(receive));
  await pawl.callbacks.acceptLate(kept[0]!.id).catch(() => {}); // Its step may not have reached the state that accepts a result.
  await pawl.callbacks.list({ lifecycle: graded, instance: late[0]!.key });
  const { id } = await pawl.receive(graded, slow[0]!.key, "result", { score: 8 }, { dedupeKey: "refused" });
  await reopenCallbacks(kernel.db, [{ id, attempts: 0 }]);
  const { instance } = (await pawl.callbacks.get(id))!;
  await postponeCallbacks(kernel.db, [{ id: instance, reason: "x" }], 0);
  await matchDueCallbacks(kernel, 500);
}
