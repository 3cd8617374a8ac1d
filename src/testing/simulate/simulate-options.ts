import type { Pawl } from "../../api/pawl.ts";
import type { Instance } from "../../api/results.ts";
import type { Duration } from "../../base/duration.ts";
import type {
  AnyLifecycle,
  DataOf,
  EventOf,
  PayloadOf,
  StartDataOf,
  StateOf,
} from "../../definition/language/public-types.ts";
import type { Step } from "../../definition/language/step.ts";
import type { EffectLedger } from "../effect-ledger.ts";
import type { TestPawlOptions } from "../test-pawl.ts";
import type { ActKind } from "./act.ts";
import type { SimulationRandom } from "./random.ts";

/** What `simulate` is given: lifecycles, what may happen to their instances, and what must always be so. */
export interface SimulateOptions<Lifecycles extends readonly AnyLifecycle[]>
  extends Omit<TestPawlOptions, "lifecycles" | "steps"> {
  readonly lifecycles: Lifecycles;
  /**
   * What must hold after every act, and at rest: a function, or several by name. It is violated if it throws, or
   * returns `false` or a text with the reason. It may be asynchronous.
   */
  readonly invariant: Invariant<Lifecycles> | Readonly<Record<string, Invariant<Lifecycles>>>;
  /**
   * Which lifecycles callers start, by name, each with a function that makes the data (or the payload of a job).
   *
   * @default every lifecycle that needs no data
   */
  readonly start?: StartGenerators<Lifecycles>;
  /**
   * Which events callers send, by lifecycle and event: a function that makes the payload, `true` for an event without one,
   * `false` for one that no caller sends. It adds to the default.
   *
   * @default the events that the states of a lifecycle wait for and that need no payload
   */
  readonly events?: EventGenerators<Lifecycles>;
  /**
   * Results that external services send with `pawl.receive`, by lifecycle and event, in the form of `events`. They come
   * early, late and twice, and may be errors.
   *
   * @default {}
   */
  readonly callbacks?: EventGenerators<Lifecycles>;
  /**
   * Fakes for steps, by `lifecycle/state`. A fake may fail as a real step does.
   *
   * @default {}
   */
  readonly steps?: FakeSteps<Lifecycles>;
  /**
   * The outside world, which your fake services record in. It is cleared before every run.
   *
   * @default an empty ledger
   */
  readonly effects?: EffectLedger;
  /** Called before every run, to reset what your fake services remember. `effects` is cleared without it. */
  readonly beforeEach?: () => unknown;
  /**
   * How many runs there are.
   *
   * @default 50
   */
  readonly runs?: number;
  /**
   * The seed of the first run, a whole number; each further run has the next one. The same seed gives the same history.
   *
   * @default 1
   */
  readonly seed?: number;
  /**
   * How many acts a run has at most.
   *
   * @default 20
   */
  readonly acts?: number;
  /**
   * The weight of each kind of act; 0 for never. `restart` begins a new run of an instance with new idempotency keys:
   * give it a weight if your invariant holds over restarts.
   *
   * @default { start: 3, send: 6, race: 1.5, callback: 4, work: 6, wait: 4, fail: 2.5, failPermanently: 1, crash: 3,
   * stall: 1,   interrupt: 1.5, relay: 2, recover: 1, restart: 0, discard: 0.3 }
   */
  readonly weights?: Partial<Readonly<Record<ActKind, number>>>;
  /**
   * How much time passes after the last act, by the clock of the test, for what happens by itself.
   *
   * @default "1d"
   */
  readonly settle?: Duration;
  /**
   * The lease of a worker: how long it takes until another worker runs the tasks of a dead one.
   *
   * @default "30s"
   */
  readonly leaseDuration?: Duration;
  /**
   * How long one of your functions may take, in real time.
   *
   * @default "10s"
   */
  readonly timeout?: Duration;
}

/** Checked after every act, and once more at rest. */
export type Invariant<Lifecycles extends readonly AnyLifecycle[]> = (world: SimulatedWorld<Lifecycles>) => unknown;

/** The subject of an invariant. */
export interface SimulatedWorld<Lifecycles extends readonly AnyLifecycle[]> {
  /** All instances, oldest first, by the names of their lifecycles. */
  readonly instances: { readonly [L in Lifecycles[number] as NameOf<L>]: readonly Instance<L>[] };
  /** What happened outside. */
  readonly effects: EffectLedger;
  /** There are no more faults, and everything that happens by itself within `settle` has happened. */
  readonly atRest: boolean;
  /** For details, such as `await pawl.journal(order, { id })`. An invariant changes nothing. */
  readonly pawl: Pawl;
}

/** The argument of a function that makes the data of a start. */
export interface StartContext {
  readonly random: SimulationRandom;
  /** The key that the instance gets. */
  readonly key: string;
}

/** The argument of a function that makes the payload of an event. */
export interface EventContext<L extends AnyLifecycle> {
  readonly random: SimulationRandom;
  /** The instance that it is sent to, at that moment. */
  readonly instance: Instance<L>;
}

// The conditions below always hold. They make the compiler infer the lifecycles before it checks the functions.

/** Functions that make the data of starts, by the names of lifecycles. */
export type StartGenerators<Lifecycles extends readonly AnyLifecycle[]> = Lifecycles extends readonly AnyLifecycle[]
  ? {
      readonly [L in Lifecycles[number] as NameOf<L>]?: (
        given: StartContext,
      ) => StartDataOf<L> | Promise<StartDataOf<L>>;
    }
  : never;

/** Functions that make the payloads of events, by the names of lifecycles and events. */
export type EventGenerators<Lifecycles extends readonly AnyLifecycle[]> = Lifecycles extends readonly AnyLifecycle[]
  ? {
      readonly [L in Lifecycles[number] as NameOf<L>]?: {
        readonly [Event in EventOf<L>]?: EventGenerator<L, PayloadOf<L, Event>>;
      };
    }
  : never;

/** Fakes for steps, by `lifecycle/state`. */
export type FakeSteps<Lifecycles extends readonly AnyLifecycle[]> = Lifecycles extends readonly AnyLifecycle[]
  ? {
      readonly [L in Lifecycles[number] as `${NameOf<L>}/${StateOf<L>}`]?: (
        step: Step<DataOf<L>, FactsOf<L>["events"]>,
      ) => unknown;
    }
  : never;

type EventGenerator<L extends AnyLifecycle, Payload> = [Payload] extends [undefined]
  ? boolean
  : false | (undefined extends Payload ? true : never) | ((given: EventContext<L>) => Payload | Promise<Payload>);

type FactsOf<L extends AnyLifecycle> = NonNullable<L["~facts"]>;
type NameOf<L extends AnyLifecycle> = FactsOf<L>["name"];
