import type { Pawl } from "../../../api/pawl.ts";
import type { AskedQuestion } from "../../../definition/decide/question.ts";
import type { AnyLifecycle } from "../../../definition/language/public-types.ts";
import { acceptLate, discarded, type StateModel, type Timing } from "../../../definition/model.ts";
import type { LifecycleResponse, StateResponse } from "../../contract.ts";

/** The lifecycles of this process with their states and instance counts; with `internal` also Pawl's own. */
export async function lifecyclesOf(pawl: Pawl, internal: boolean): Promise<LifecycleResponse[]> {
  const all: LifecycleResponse[] = [];
  for (const lifecycle of [...pawl.lifecycles, ...(internal ? pawl.internalLifecycles : [])]) {
    const counts: Readonly<Record<string, number | undefined>> = await pawl.inspect.counts(lifecycle);
    const { name, version, initial, job } = lifecycle;
    const states = [...lifecycle.states.values()].map((state) => shown(lifecycle, state, counts[state.name] ?? 0));
    all.push({ name, version, initial, job, states });
  }
  return all;
}

function shown(lifecycle: AnyLifecycle, state: StateModel, instances: number): StateResponse {
  const { name, kind, final, limit, rate, uses, checkpoint, retry } = state;
  return {
    name,
    kind,
    final: name === discarded && state.builtIn ? "discarded" : (final ?? null),
    instances,
    asks: asksOf(state),
    lane: kind === "work" ? `${lifecycle.name}/${name}` : null,
    timeouts: state.timeouts.map(({ after, send }) => ({ after: textOf(after), send })),
    maxAttempts: retry?.maxAttempts ?? null,
    uses: uses ?? null,
    limit: limit ?? null,
    rate: rate ?? null,
    checkpoint: checkpoint ?? null,
    events: lifecycle.eventsFrom(name).filter((event) => event !== acceptLate || !lifecycle.builtIns),
  };
}

/** As declared; null if it depends on the data. */
function textOf(timing: Timing): string | null {
  if (typeof timing === "function") return null;
  return typeof timing === "number" ? `${timing}ms` : timing;
}

function asksOf({ kind, ask }: StateModel): StateResponse["asks"] {
  if (kind !== "ask") return null;
  const { queue, crowd } = ask as AskedQuestion;
  return queue === undefined ? { whom: "crowd", name: crowd!.name } : { whom: "people", name: queue.name };
}
