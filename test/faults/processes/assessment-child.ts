import { createPawl } from "pawl";
import { assessment } from "../../../examples/assessment/assessment.ts";
import { type Addresses, servicesAt } from "../../../examples/assessment/services/clients.ts";
import type { LifecycleModel, StateModel } from "../../../src/definition/model.ts";
import { writeLine } from "../harm/write-line.ts";

/**
 * A worker of the assessment that is made to be killed. It starts on a signal, and holds given steps for ever, before
 * or after they do their work.
 */
const { PAWL_VICTIM_URL: database, PAWL_VICTIM_ADDRESSES: addresses, PAWL_VICTIM_MINUTE: minute } = process.env;
/** By candidate: `"attempt/completed before"`. */
const holds = JSON.parse(process.env.PAWL_VICTIM_HOLDS!) as Record<string, string>;

type Run = (step: { readonly data: { readonly candidate: string } }) => unknown;

/** Puts a hold around every step of a lifecycle, the reset of its recovery too. */
function hold(lifecycle: LifecycleModel): void {
  const around =
    (lane: string, run: Run): Run =>
    async (step) => {
      const { candidate } = step.data;
      const reach = (when: string) => (holds[candidate] === `${lane} ${when}` ? stay(candidate) : undefined);
      await reach("before");
      const returned = await run(step);
      await reach("after");
      return returned;
    };
  const states = lifecycle.states as Map<string, StateModel>;
  for (const [name, state] of states) {
    if (state.run !== undefined)
      states.set(name, { ...state, run: around(`${lifecycle.name}/${name}`, state.run as Run) });
  }
  const reset = lifecycle.recovery?.reset as { run: Run } | undefined;
  if (reset !== undefined) reset.run = around(`${lifecycle.name}/failed`, reset.run);
}

function stay(candidate: string): Promise<never> {
  writeLine("held", candidate);
  return new Promise(() => {});
}

const { lifecycles, breakers } = assessment(servicesAt(JSON.parse(addresses!) as Addresses, 10_000), {
  minuteMs: Number(minute),
});
for (const lifecycle of lifecycles) hold(lifecycle);
const pawl = await createPawl({ database: database!, lifecycles, breakers, connections: 4, logger: false });
process.stdin.once("data", () => {
  pawl.work({ concurrency: 64, leaseDuration: "2500ms", pollInterval: "50ms", maintenanceInterval: "100ms" });
});
process.stdin.on("end", () => process.exit(0)); // The parent process is gone.
writeLine("ready");
