import type { Duration } from "../../base/duration.ts";
import type { Crowd } from "../crowd.ts";
import type { Context, Move, RetryModel } from "../model.ts";
import type { Queue } from "../queue.ts";
import type {
  EventNames,
  FailedEvents,
  NothingReturned,
  Outcomes,
  Output,
  PayloadSeen,
  Schemas,
  Shared,
  SharedBy,
  WithoutPayload,
} from "./inferred.ts";
import type { Effect, Returned, Step } from "./step.ts";
import type { StorableFields, StorableValue } from "./storable.ts";

/**
 * The definition of a lifecycle; see `lifecycle`.
 *
 * How the names are inferred: `Own` from the states and the keys of their `on`, `Common` from the keys of the common
 * `on`, `Labels` from the queues and crowds that are asked. Each has one place where it is inferred, and every mere use
 * of a name is under `NoInfer`. From an edge nothing is inferred but its event, so that a misspelt key of it stays an
 * error. A `run` is checked by its return type, because its parameter would also accept a step of other outcomes.
 */
export interface Definition<
  Own,
  Labels,
  Common extends string,
  Data,
  Events extends Schemas,
  BuiltIns,
  Named extends string = string,
> {
  /** The schema of an instance's data: zod, valibot, arktype, or any other that follows Standard Schema. */
  readonly data?: Data & StorableFields<Output<NoInfer<Data>>>;
  /** The schemas of the payloads. An event without one takes none. */
  readonly events?: Events & {
    readonly [Event in keyof Events]: Event extends "fail" | SharedBy<Own, Common, Data, Events, BuiltIns>["builtIn"]
      ? never
      : StorableValue<Output<Events[Event]>>;
  };
  /** The state in which an instance starts. */
  readonly initial: NoInfer<SharedBy<Own, Common, Data, Events, BuiltIns>["declared"]>;
  /**
   * Raise it when a state or an edge is removed or leads elsewhere.
   * @default 1
   */
  readonly version?: number;
  /** False leaves out `failed`, `discarded`, `fail`, `recover`, `restart` and `discard`. */
  readonly builtIns?: BuiltIns;
  /** The time within which an instance must end, fixed at its start, and the rule for late results. */
  readonly deadline?: { readonly within: Moment<Output<Data>>; readonly late?: "keep" | "reject" | "accept" };
  /** Automatic recovery after a failure. Without it a failed instance waits for a person. */
  readonly recovery?: Recovery<SharedBy<Own, Common, Data, Events, BuiltIns>>;
  /**
   * Edges from every state that is not final, and hooks of the built-in events. An event that a state declares itself
   * is decided by that state alone: if none of its guards hold, the edge declared here is not tried. Only `fail` always
   * succeeds: if a state's own `fail` edges refuse, the instance goes to `failed`.
   */
  readonly on?: {
    readonly [Event in Common]: Event extends SharedBy<Own, Common, Data, Events, BuiltIns>["builtIn"]
      ? Hooks<Output<Data>, PayloadSeen<SharedBy<Own, Common, Data, Events, BuiltIns>, Event, unknown>>
      : Edge<
          SharedBy<Own, Common, Data, Events, BuiltIns>["state"],
          Output<Data>,
          PayloadSeen<SharedBy<Own, Common, Data, Events, BuiltIns>, Event, unknown>
        >;
  };
  /**
   * Runs for every move of an instance, its start included, inside the transaction that makes the move: for a status table
   * of your own. It runs after the edge's `before`, and a throw rolls the move back, as there. Each move then takes a
   * transaction of its own instead of a place in a batch.
   *
   * ```ts
   * const parcel = lifecycle("parcel", {
   *   onMove: ({ tx, id, to, now }) =>
   *     tx.query("insert into parcel_status values ($1, $2, $3) on conflict (id) do update set state = $2, at = $3", [id, to, now]),
   *   initial: "packed",
   *   states: { packed: { forever: true, on: { shipped: "done" } }, done: { final: "success" } },
   * });
   * ```
   */
  readonly onMove?: (
    move: Move<
      Output<Data>,
      SharedBy<Own, Common, Data, Events, BuiltIns>["state"],
      EventNames<SharedBy<Own, Common, Data, Events, BuiltIns>>
    > & { readonly tx: HookTransaction },
  ) => unknown;
  /** In the order in which the work goes through them: a checkpoint is earlier than what falls back to it. */
  readonly states: {
    readonly [Name in keyof Own]: State<
      SharedBy<Own, Common, Data, Events, BuiltIns>,
      Own[Name],
      Name extends keyof Labels ? Labels[Name] : unknown
    >;
  } & { readonly [Name in keyof Labels]: Asking<Labels[Name]> } & {
    readonly [name: string]: Naming<Named>;
  };
  /** What states of earlier versions are called now. */
  readonly renamed?: { readonly [old: string]: NoInfer<SharedBy<Own, Common, Data, Events, BuiltIns>["declared"]> };
  /** The event for open children when the parent leaves the state that started them. */
  readonly onParentEnd?: NoInfer<
    WithoutPayload<
      SharedBy<Own, Common, Data, Events, BuiltIns>,
      EventNames<SharedBy<Own, Common, Data, Events, BuiltIns>>
    >
  >;
  /**
   * How long an instance is kept after it has ended.
   * @default for ever
   */
  readonly retention?: Duration;
}

/** The keys of a state define its kind: it works, waits, asks, is parked, joins or ends. */
interface State<In extends Shared, Own, Label> {
  /** The state works: a worker runs this outside any transaction, and its result is an event. */
  readonly run?: (
    step: Step<In["data"], Outcomes<In, Own>["of"]>,
  ) => Returned<Outcomes<In, Own>["of"], NothingReturned<In, Own>>;
  /** The events that lead out of it, or that it takes while it stays. */
  readonly on?: {
    readonly [Event in keyof Own]: Event extends Exclude<In["builtIn"], "fail">
      ? never
      : Edge<In["state"], In["data"], PayloadSeen<In, Event, Label>>;
  };
  /** The state asks people or a crowd. */
  readonly ask?: Ask<In["data"]>;
  /** The state is parked until a scheduler sends its event, in bulk. */
  readonly release?: {
    readonly interval: Duration;
    /** How many are released at a time. */
    readonly limit: number;
    readonly send: NoInfer<WithoutPayload<In, keyof Own | In["common"]>>;
  };
  /** The state waits for its children; a failed one fails it, counts, or is waited for. */
  readonly join?: { readonly failed?: "fail" | "count" | "wait" };
  /** The state ends the instance. */
  readonly final?: "success" | "failure";
  /** A wait without an end, declared on purpose. */
  readonly forever?: boolean;
  /** An event that is sent when the instance has been here for so long; a list reminds first and expires later. */
  readonly timeout?:
    | Timeout<NoInfer<WithoutPayload<In, keyof Own | In["common"]> | Extract<In["builtIn"], "fail">>, In["data"]>
    | readonly Timeout<
        NoInfer<WithoutPayload<In, keyof Own | In["common"]> | Extract<In["builtIn"], "fail">>,
        In["data"]
      >[];
  /** An earlier state, from which an instance that failed here resumes. */
  readonly checkpoint?: NoInfer<In["declared"]>;
  /** The event that a recovery into this state sends: one of its own, or one of `failed`. */
  readonly recoverWith?: NoInfer<WithoutPayload<In, keyof Own | FailedEvents<In> | In["common"]>>;
  /** How often a step is tried and how long it rests in between. */
  readonly retry?: RetryModel;
  /** The outside dependency that the step needs, by the name of its breaker. */
  readonly uses?: string;
  /**
   * How many steps of this state may run at a time, over all workers; with `per` and `each`, also how many of each key:
   * `limit: { total: 40, per: ({ data }) => data.school, each: 4 }`.
   */
  readonly limit?: Limit<In["data"]>;
  /** How many steps of this state may begin in a time, such as `"100/m"`, in all and of each key. */
  readonly rate?: RateLimit<In["data"]>;
  /**
   * The key by which waiting steps take turns, and its weight: a key with many steps delays the others only by its turn.
   * `share: ({ data }) => ({ key: data.school, weight: data.paid ? 3 : 1 })`.
   */
  readonly share?: Share<In["data"]>;
  /**
   * Lower runs sooner.
   * @default 0
   */
  readonly priority?: number;
}

/** A key: a text or a number. Null: no key; all steps without one share the limits and the turn of one key. */
type LaneKeyValue = string | number | null;

/** Computed when the step enters its lane. Pure. */
type LaneKeyOf<Data> = (context: Context<Data, unknown>) => LaneKeyValue;

/** A limit of concurrent steps: in all, or in all and of each key. A key at its limit does not hold up the others. */
export type Limit<Data> = number | { readonly total?: number; readonly per?: LaneKeyOf<Data>; readonly each?: number };

/** A limit of the steps that begin in a time: in all, or in all and of each key. */
export type RateLimit<Data> = Rate | { readonly total?: Rate; readonly per?: LaneKeyOf<Data>; readonly each?: Rate };

/** A key, or a key and a weight: a whole number from 1 to 100, by default 1. */
export type Share<Data> = (
  context: Context<Data, unknown>,
) => LaneKeyValue | { readonly key: LaneKeyValue; readonly weight?: number };

/** What runs with a move. */
interface Hooks<Data, Payload> {
  /** Pure. True, or the reason why not. */
  readonly guard?: (context: Context<Data, Payload>) => true | string;
  /** Pure. A patch of the data; a field set to undefined is removed. */
  readonly set?: (context: Context<Data, Payload>) => Partial<Data>;
  /** Runs inside the transaction of the move; a throw rolls everything back. */
  readonly before?: (context: Context<Data, Payload> & { readonly tx: HookTransaction }) => unknown;
  /** Runs after the commit, as a task of its own, retried on its own. */
  readonly after?: (effect: Effect<Data, Payload>) => unknown;
  /** The move also leaves a dead letter for a person to decide. */
  readonly deadLetter?: boolean;
}

/** A connection inside the transaction of the move: what `before` writes commits with the move or not at all. */
export interface HookTransaction {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the rows of its own statement.
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>;
}

/** An edge. Without `to` the instance stays; `to` its own name enters it again. */
interface EdgeDetails<Target, Data, Payload> extends Hooks<Data, Payload> {
  readonly to?: NoInfer<Target>;
}

/**
 * A target, an edge, or a list of them of which the first whose guard holds is taken, in the order written. The tuple
 * makes the compiler take a list apart: from an array with a function in it nothing would be inferred, not even the
 * name of its event.
 */
type Edge<Target, Data, Payload> =
  | NoInfer<Target>
  | EdgeDetails<Target, Data, Payload>
  | readonly [
      NoInfer<Target> | EdgeDetails<Target, Data, Payload>,
      ...(NoInfer<Target> | EdgeDetails<Target, Data, Payload>)[],
    ]
  | readonly (NoInfer<Target> | EdgeDetails<Target, Data, Payload>)[];

/** A moment after entering: a duration, or a function of the data; null for none. */
type Moment<Data> = Duration | ((context: Context<Data, unknown>) => Duration | null);

interface Timeout<Event, Data> {
  readonly after: Moment<Data>;
  readonly send: Event;
}

/** The maximum number per second, minute, hour or day. */
export type Rate = `${number}/${"s" | "m" | "h" | "d"}`;

/** The queue or crowd of a question, and its content. */
type Ask<Data> =
  | { readonly queue: Queue; readonly crowd?: undefined; readonly sample: (context: Context<Data, unknown>) => object }
  | { readonly crowd: Crowd; readonly queue?: undefined; readonly sample: (context: Context<Data, unknown>) => object };

/** Where the type of the labels is inferred from. */
interface Asking<Label> {
  readonly ask?: { readonly queue?: Queue<Label>; readonly crowd?: Crowd<Label> };
}

/**
 * Where the names of all events are inferred from. `Own` lacks those of a state whose edges are nothing but functions: the
 * compiler infers nothing from these before it knows their parameters.
 */
type Naming<Named extends string> = {
  readonly [Key in Exclude<keyof State<Shared, unknown, unknown>, "on">]?: unknown;
} & { readonly on?: { readonly [Event in Named]?: unknown } };

interface Recovery<In extends Shared> {
  /**
   * At this many failures it stays failed, for a person to decide.
   * @default 3
   */
  readonly maxFailures?: number;
  /**
   * The delay after a failure.
   * @default "10m"
   */
  readonly after?: Duration;
  /** Which failures count: all since the last restart, those in the same state since then, or all. */
  readonly scope?: "restart" | "state" | "lifetime";
  /** The event to send from `failed` if the target neither works nor says how it recovers. */
  readonly fallback?: NoInfer<WithoutPayload<In, FailedEvents<In> | In["common"]>>;
  /** Sends the target's one permitted event that needs no payload, if there is just one. */
  readonly onlyPermitted?: boolean;
  /** Runs first when the target ranks before a state. */
  readonly reset?: {
    readonly before: NoInfer<In["declared"]>;
    readonly run: (work: Effect<In["data"]>) => unknown;
    /** How often it is tried before the instance is left failed, for a person to decide. */
    readonly retry?: RetryModel;
  };
}
