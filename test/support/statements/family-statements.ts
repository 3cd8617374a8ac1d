import { lifecycle } from "pawl";
import type { Pawl } from "../../../src/api/pawl.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { claimFromLanes } from "../../../src/kernel/tasks/claim.ts";
import { saveProgress } from "../../../src/kernel/tasks/progress.ts";
import { report } from "../../../src/kernel/tasks/report.ts";
import { maintain } from "../../../src/maintenance/round.ts";
import { run } from "../../../src/worker/steps/run.ts";

const kid = lifecycle("kid", {
  initial: "waiting",
  onParentEnd: "called_off",
  states: { waiting: { forever: true, on: { poked: "done", called_off: "done" } }, done: { final: "success" } },
});

const kin = lifecycle("kin", {
  initial: "bearing",
  states: {
    bearing: {
      run: (step) => {
        for (const key of ["k1", "k2", "k3"]) step.start(kid, { key });
        step.start(kid);
      },
      on: { borne: "telling" },
    },
    telling: {
      run: async (step) => {
        for (const child of await step.children(kid)) step.send(kid, child, "poked");
        step.send(kid, { child: "k1" }, "poked"); // Refused by then.
      },
      on: {
        told: {
          to: "joining",
          after: (effect) => {
            effect.start(kid, { key: "k4" });
            effect.send(kid, { child: "k4" }, "poked");
          },
        },
      },
    },
    joining: { join: { failed: "count" }, on: { joined: "done" } },
    done: { final: "success" },
  },
});

export const kindred = [kin, kid];
const lanes = ["kin@1/bearing", "kin@1/telling", "kin@1:after", "kid@1:send"];

/** Every statement about children: started, shown, sent to, counted, called off. */
export async function everyStatementOfKin(pawl: Pawl, kernel: Kernel): Promise<void> {
  const made = await pawl.startMany(
    kin,
    Array.from({ length: 5 }, () => ({})),
  );
  await work(kernel, ["kin@1/bearing"]);
  await pawl.send(kin, { id: made[0]!.id }, "discard");
  await work(kernel, lanes);
  await work(kernel, lanes);
  await maintain(kernel, lanes);
  const { id } = made[1]!;
  await pawl.get(kin, { id });
  await pawl.children(kin, { id });
  await pawl.list(kid, { parent: { id } });
  await pawl.list(kid, { parent: { id }, state: "done" });
}

async function work(kernel: Kernel, some: readonly string[]): Promise<void> {
  const tasks = await claimFromLanes(kernel, { lanes: some, limit: 50, share: 50, worker: "w", leaseMs: 30_000 });
  for (const one of tasks) await saveProgress(kernel, one, { fraction: 0.5, note: null });
  const abort = new AbortController();
  const outcomes = await Promise.all(tasks.map((one) => run(kernel, one, { abort, log: () => {} })));
  await report(
    kernel,
    tasks.map((one, index) => ({ task: one, outcome: outcomes[index]! })),
  );
}
