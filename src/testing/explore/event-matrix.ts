import type { LifecycleModel, StateModel } from "../../definition/model.ts";
import { exitsOf, isBuiltIn } from "./exits.ts";
import type { Findings } from "./finding.ts";

/** How a state handles an event. */
export type MatrixCell =
  /** It leads to one of these states; with a guard on every edge it may also be refused. */
  | { readonly kind: "moves"; readonly to: readonly string[]; readonly isGuarded: boolean }
  /** It is taken, and the instance stays. */
  | { readonly kind: "stays"; readonly isGuarded: boolean }
  /** The sender is refused. */
  | { readonly kind: "refused" }
  /** The sender is refused, although the event can arrive in this state. */
  | { readonly kind: "forgotten" };

/** What every open state does with every event that the definition declares. Built-in events are left out. */
export interface EventMatrix {
  readonly states: readonly string[];
  readonly events: readonly string[];
  /** By state, then by event. */
  readonly cells: Readonly<Record<string, Readonly<Record<string, MatrixCell>>>>;
}

/**
 * The matrix of a definition. An event of callers is missing in a state that an instance can enter by itself (a
 * timeout, a step) from a state that accepts it: a sender that loses that race is refused. So is one that most other
 * states accept.
 */
export function eventMatrix(lifecycle: LifecycleModel, findings: Findings): EventMatrix {
  const open = [...lifecycle.states.values()].filter(({ final }) => final === undefined);
  const events = [...new Set(open.flatMap(({ name }) => lifecycle.eventsFrom(name)))].filter(
    (event) => !isBuiltIn(lifecycle, event) && event !== "fail",
  );
  const forgotten = forgottenIn(lifecycle, open, events);
  const cells = Object.fromEntries(
    open.map(({ name }) => [
      name,
      Object.fromEntries(events.map((event) => [event, cellOf(lifecycle, name, event, forgotten)])),
    ]),
  );
  for (const event of events) report(event, forgotten.get(event) ?? new Map(), findings);
  return { states: open.map(({ name }) => name), events, cells };
}

type Forgotten = ReadonlyMap<string, ReadonlyMap<string, string>>;

function cellOf(lifecycle: LifecycleModel, state: string, event: string, forgotten: Forgotten): MatrixCell {
  const edges = lifecycle.edgesFrom(state, event);
  if (edges.length === 0) return { kind: forgotten.get(event)?.has(state) === true ? "forgotten" : "refused" };
  const isGuarded = edges.every(({ guard }) => guard !== undefined);
  const to = [...new Set(edges.flatMap((edge) => (edge.to === null ? [] : [edge.to])))];
  return to.length === 0 ? { kind: "stays", isGuarded } : { kind: "moves", to, isGuarded };
}

/** By event, the states that lack it and why it can arrive there. */
function forgottenIn(lifecycle: LifecycleModel, open: readonly StateModel[], events: readonly string[]): Forgotten {
  const declared = open.filter(({ builtIn }) => !builtIn);
  const exits = declared.flatMap((state) => exitsOf(lifecycle, state));
  return new Map(
    events.map((event) => {
      const taking = exits.filter((exit) => exit.event === event);
      // An event that no waiting state accepts is the outcome of a step, and no caller sends it.
      const takers = new Set(taking.some(({ by }) => by === "caller") ? taking.map(({ from }) => from) : []);
      const lacking = declared.filter(({ name }) => lifecycle.edgesFrom(name, event).length === 0);
      const reasons = new Map<string, string>();
      for (const { name } of lacking) {
        const race = exits.find(({ from, to, by, event: other }) => {
          return takers.has(from) && to.includes(name) && by !== "caller" && other !== event;
        });
        if (race !== undefined) reasons.set(name, `\`${race.event}\` can lead there from \`${race.from}\` first`);
        else if (takers.size >= 2 && takers.size > lacking.length) reasons.set(name, "most other states accept it");
      }
      return [event, reasons] as const;
    }),
  );
}

function report(event: string, states: ReadonlyMap<string, string>, findings: Findings): void {
  for (const [state, why] of states) {
    findings.add(
      "event_forgotten",
      "warning",
      { state, event },
      `\`${state}\` does not accept \`${event}\`, which can arrive there: ${why}. The call is refused.`,
      `Add an edge for \`${event}\`, or one without \`to\` that only records it; or let callers expect the refusal.`,
    );
  }
}
