import type { LifecycleModel } from "../../definition/model.ts";
import { sql } from "../../store/port/db.ts";
import { declaredStates } from "../explore/exits.ts";
import type { TestPawl } from "../test-pawl.ts";

/** How many kinds of something a simulation covered, and which it did not. */
export interface Covered {
  readonly reached: number;
  readonly total: number;
  readonly never: readonly string[];
}

/** The coverage of what the lifecycles declare, without built-in parts. */
export interface SimulationCoverage {
  /** Such as `order/shipping`. */
  readonly states: Covered;
  /** Moves from one state to another, such as `order: open -pay-> charging`. */
  readonly edges: Covered;
  /** Events that were taken, such as `order/pay`. */
  readonly events: Covered;
  /** Events that no caller sent, because `events` or `callbacks` has no function that makes their payload. */
  readonly unsent: readonly string[];
}

/** A move that some instance has made. */
export interface SeenMove {
  readonly lifecycle: string;
  readonly from: string | null;
  readonly event: string;
  readonly to: string;
}

/** All kinds of moves that were made in a run. */
export function seenMoves(t: TestPawl): Promise<SeenMove[]> {
  return t.db.rows<SeenMove>(sql`
    select distinct instance.lifecycle, move.from_state as "from", move.event, move.to_state as "to"
    from pawl.journal as move join pawl.instances as instance on instance.id = move.instance_id`);
}

/** Sums the coverage of all runs. */
export class Coverage {
  readonly #lifecycles: readonly LifecycleModel[];
  readonly #unsendable: readonly string[];
  readonly #states = new Set<string>();
  readonly #edges = new Set<string>();
  readonly #events = new Set<string>();

  constructor(lifecycles: Iterable<LifecycleModel>, unsendable: readonly string[]) {
    this.#lifecycles = [...lifecycles];
    this.#unsendable = unsendable;
  }

  add(moves: readonly SeenMove[]): void {
    for (const { lifecycle, from, event, to } of moves) {
      this.#states.add(`${lifecycle}/${to}`);
      if (from === null) continue;
      this.#edges.add(edgeName(lifecycle, from, event, to));
      this.#events.add(`${lifecycle}/${event}`);
    }
  }

  get result(): SimulationCoverage {
    const states = this.#lifecycles.flatMap((one) => declaredStates(one).map(({ name }) => `${one.name}/${name}`));
    const edges = this.#lifecycles.flatMap((one) =>
      declaredEdges(one).map(({ from, event, to }) => edgeName(one.name, from, event, to ?? from)),
    );
    const events = this.#lifecycles.flatMap((one) => declaredEdges(one).map(({ event }) => `${one.name}/${event}`));
    return {
      states: covered(states, this.#states),
      edges: covered(edges, this.#edges),
      events: covered(events, this.#events),
      unsent: this.#unsendable.filter((event) => !this.#events.has(event)),
    };
  }
}

function declaredEdges({ edges }: LifecycleModel): readonly LifecycleModel["edges"][number][] {
  return edges.filter(({ builtIn, accepts }) => !builtIn && accepts === undefined);
}

function edgeName(lifecycle: string, from: string, event: string, to: string): string {
  return `${lifecycle}: ${from} -${event}-> ${to}`;
}

function covered(declared: readonly string[], seen: ReadonlySet<string>): Covered {
  const all = [...new Set(declared)];
  const never = all.filter((name) => !seen.has(name));
  return { reached: all.length - never.length, total: all.length, never };
}
