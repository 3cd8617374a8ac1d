import { job, type Pawl } from "pawl";
import { advanceBreakers, writeCalls } from "../../../src/kernel/breakers/breakers.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { report } from "../../../src/kernel/tasks/report.ts";
import type { Report } from "../../../src/kernel/types/outcome.ts";
import { Claimer } from "../../../src/worker/claimer.ts";
import { Lanes } from "../../../src/worker/lanes.ts";
import { run } from "../../../src/worker/steps/run.ts";

/** Needs one dependency, and calls another that is away. */
export const asks = job("asks", {
  uses: "plans_llm",
  run: (step) => step.call("plans_stt", () => Promise.reject(new Error("no answer"))),
});

/** Counts calls, opens, probes by claim and by call, closes again, and shows it. */
export async function everyStatementOfBreakers(pawl: Pawl, kernel: Kernel): Promise<void> {
  await pawl.breakers.force("plans_llm", "closed", { reason: "plans" });
  await pawl.breakers.force("plans_llm", null);
  await pawl.enqueueMany(
    asks,
    Array.from({ length: 30 }, () => ({ payload: {} })),
  );
  await work(kernel, 20);
  await pawl.breakers.force("plans_llm", "open", { reason: "plans" });
  await pawl.breakers.force("plans_stt", "open", { reason: "plans" });
  await pawl.breakers.force("plans_llm", null);
  await pawl.breakers.force("plans_stt", null);
  for (let turn = 0; turn < 2; turn++) await work(kernel, 5);
  await advanceBreakers(kernel);
  await pawl.breakers.list();
  await pawl.breakers.history("plans_llm");
}

async function work(kernel: Kernel, room: number): Promise<void> {
  const lanes = new Lanes(kernel, ["asks"]);
  await lanes.read();
  const tasks = await new Claimer(kernel, lanes, { worker: "w", leaseMs: 30_000 }).claim(room);
  const abort = new AbortController();
  const reports: Report[] = [];
  for (const one of tasks) reports.push({ task: one, outcome: await run(kernel, one, { abort, log: () => {} }) });
  await report(kernel, reports);
  await writeCalls(kernel);
}
