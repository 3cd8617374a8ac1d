import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Duration } from "../base/duration.ts";

/**
 * A lifecycle as the rest of Pawl sees it: untyped, complete (built-in states and events are in it), indexed. The
 * typed face that users hold is `Lifecycle` in `lifecycle.ts`; at run time the two are one object.
 */
export interface LifecycleModel {
  readonly kind: "lifecycle";
  readonly name: string;
  /** The number of the definition. */
  readonly version: number;
  readonly initial: string;
  /** In order of declaration; `failed` and `discarded` come last unless declared elsewhere. */
  readonly states: ReadonlyMap<string, StateModel>;
  /** Every edge, the built-in ones too, in the order in which they are tried. */
  readonly edges: readonly EdgeModel[];
  /** The edges of one event from one state, the state's own before the common ones, built-in ones last. */
  edgesFrom(state: string, event: string): readonly EdgeModel[];
  /** States in which failed work waits for a person: an edge with `deadLetter` leads there, and `retry` out of it. */
  readonly retriable: ReadonlySet<string>;
  /** Whether an edge says `deadLetter: true`: then a dead letter can be open in any state. */
  readonly hasDeadLetterEdges: boolean;
  /** The events that have an edge from this state, in order of declaration. */
  eventsFrom(state: string): readonly string[];
  readonly data: StandardSchemaV1 | undefined;
  /** Schemas of the payloads; an event without one takes none. */
  readonly events: ReadonlyMap<string, StandardSchemaV1>;
  readonly deadline: { readonly within: Timing; readonly late: "keep" | "reject" | "accept" } | undefined;
  readonly recovery: RecoveryModel | undefined;
  readonly builtIns: boolean;
  readonly renamed: Readonly<Record<string, string>>;
  /** What open children get when their parent's asking state is left. */
  readonly onParentEnd: string | undefined;
  /** Runs inside the transaction of every move. */
  readonly onMove: ((move: Move & { tx: unknown }) => unknown) | undefined;
  /** A plain job: its key is unique only while it is open. */
  readonly job: boolean;
  /** The retention of a closed instance, in milliseconds; undefined keeps it. */
  readonly retentionMs: number | undefined;
}

export type StateKind = "work" | "wait" | "ask" | "park" | "join" | "end";

export interface StateModel {
  readonly name: string;
  /** Place in the order of declaration, from 0. */
  readonly rank: number;
  readonly kind: StateKind;
  readonly run: ((step: never) => unknown) | undefined;
  /** The event that a `run` means when it returns nothing: the state's only own one, if it needs no payload. */
  readonly outcome: string | undefined;
  readonly final: "success" | "failure" | undefined;
  readonly timeouts: readonly { readonly after: Timing; readonly send: string }[];
  readonly forever: boolean;
  readonly checkpoint: string | undefined;
  readonly recoverWith: string | undefined;
  readonly retry: RetryModel | undefined;
  readonly uses: string | undefined;
  readonly limit: number | undefined;
  readonly rate: string | undefined;
  /** Its tasks have keys, by which they are limited or take turns; undefined for most states. */
  readonly keyed: KeyedModel | undefined;
  /** Lower runs sooner; 0 unless declared. */
  readonly priority: number;
  readonly release: { readonly interval: Duration; readonly limit: number; readonly send: string } | undefined;
  readonly join: { readonly failed: "fail" | "count" | "wait" } | undefined;
  /** The queue or crowd that is asked, as given by the user. */
  readonly ask: unknown;
  /** `failed` and `discarded`, even where a definition adds edges to `failed`. */
  readonly builtIn: boolean;
}

/** What gives the tasks of a state their keys, and what each key may have. */
export interface KeyedModel {
  readonly share: ((context: Context) => unknown) | undefined;
  readonly limit: number | undefined;
  readonly limitPer: ((context: Context) => unknown) | undefined;
  readonly rate: string | undefined;
  readonly ratePer: ((context: Context) => unknown) | undefined;
}

export interface EdgeModel {
  readonly from: string;
  readonly event: string;
  /** Null: the instance stays, and its task and timers continue. */
  readonly to: string | null;
  readonly guard: ((context: Context) => boolean | string) | undefined;
  readonly set: ((context: Context) => Record<string, unknown>) | undefined;
  readonly before: ((context: Context & { tx: unknown }) => unknown) | undefined;
  readonly after: ((effect: never) => unknown) | undefined;
  readonly deadLetter: boolean;
  readonly builtIn: boolean;
  /** The edge that it replaces, when a late result is accepted after all. */
  readonly accepts?: { readonly state: string; readonly event: string };
}

/** A moment after entering: a duration, or a function of the data that may answer null for none. */
export type Timing = Duration | ((context: Context) => Duration | null);

/** What every function of a definition gets. */
// biome-ignore lint/suspicious/noExplicitAny: the untyped face; `lifecycle.ts` gives each function its own types.
export interface Context<Data = any, Payload = any> {
  readonly data: Data;
  readonly payload: Payload;
  /** The actor, as given by the caller; null without one. */
  readonly actor: string | null;
  readonly id: string;
  readonly key: string | null;
  /** The state that the instance is in when the function is called: for an edge the one that it would leave. */
  readonly state: string;
  /** The database's time as an ISO text, so that it can go straight into the data. */
  readonly now: string;
}

/** A move of an instance, as `onMove` gets it. */
// biome-ignore lint/suspicious/noExplicitAny: the untyped face, as above.
export interface Move<Data = any, State extends string = string, Event extends string = string> {
  /** The state that the instance leaves; null for its start. The same as `to` for an event with which it stays. */
  readonly from: State | null;
  /** The state that it enters. */
  readonly to: State;
  /** The event; `start` for its start, `accept_late` for a late result that is accepted. */
  readonly event: Event | "start" | "accept_late";
  readonly payload: unknown;
  /** The data after the move. */
  readonly data: Data;
  /** How the instance ends with it; null while it is open. */
  readonly outcome: "success" | "failure" | "discarded" | null;
  /** The actor, as given by the caller; null without one. */
  readonly actor: string | null;
  readonly reason: string | null;
  readonly id: string;
  readonly key: string | null;
  /** The number of the move, from 1. */
  readonly version: number;
  /** The database's time as an ISO text. */
  readonly now: string;
}

export interface RecoveryModel {
  readonly maxFailures: number;
  readonly after: Duration;
  readonly scope: "restart" | "state" | "lifetime";
  readonly fallback: string | undefined;
  readonly onlyPermitted: boolean;
  readonly reset:
    | { readonly before: string; readonly run: (work: never) => unknown; readonly retry: RetryModel | undefined }
    | undefined;
}

export interface RetryModel {
  /** All attempts, the first one included. */
  readonly maxAttempts: number;
  /**
   * Milliseconds to wait after the n-th failed attempt (from 1), given a random number in [0, 1).
   * @default exponential(): 2 s, 4 s, 8 s and so on up to five minutes, with a jitter of 20 %
   */
  readonly backoff?: ((failedAttempts: number, random: number) => number) | undefined;
  /** What holds for certain errors instead; the first that fits. */
  readonly rules?: readonly RetryRule[] | undefined;
}

/** How often a kind of failure is retried, and its type. */
export interface RetryRule {
  /**
   * The `type` in the payload of `fail`, so that an edge can depend on it.
   * @default the name of the error
   */
  readonly type?: string | undefined;
  /** The name of the error, or one of several, or a function that matches it. */
  readonly when: string | readonly string[] | ((error: unknown) => boolean);
  /** All attempts, the first one included; 1 tries nothing again. */
  readonly maxAttempts?: number | undefined;
  readonly backoff?: RetryModel["backoff"] | undefined;
}

/** The states and events that every lifecycle has unless it says `builtIns: false`. */
export const failed = "failed";
export const discarded = "discarded";
export const builtInEvents = ["fail", "recover", "restart", "discard"] as const;
/** The event in the journal for a late result that is accepted. */
export const acceptLate = "accept_late";

/** The lane that a state's tasks wait in. */
export function laneOf(lifecycle: Pick<LifecycleModel, "name" | "version">, state: string): string {
  return `${lifecycle.name}@${lifecycle.version}/${state}`;
}

/** The lane of events that other instances send to those of a lifecycle. */
export function sendLaneOf(lifecycle: Pick<LifecycleModel, "name" | "version">): string {
  return `${lifecycle.name}@${lifecycle.version}:send`;
}

/** The lane of a lifecycle's after-effects. */
export function effectLaneOf(lifecycle: Pick<LifecycleModel, "name" | "version">): string {
  return `${lifecycle.name}@${lifecycle.version}:after`;
}

/** Whether its moves can have after-effects. Most jobs have no hooks, so their workers need not poll for effects. */
export function hasEffects({ job, edges }: Pick<LifecycleModel, "job" | "edges">): boolean {
  return !job || edges.some(({ after }) => after !== undefined);
}

/**
 * The parts of a lane's name, or of several: `essay@2/grading`, `essay/grading` in all versions, `essay` as a whole.
 */
export interface LaneName {
  readonly lifecycle: string;
  /** Undefined: of every version. */
  readonly version: number | undefined;
  /** `/state` for a state, `:after` for after-effects, `:send` for letters from other instances, nothing for all. */
  readonly part: string;
}

const lanePattern = /^([^@/:]+)(?:@(\d{1,10}))?(\/.+|:after|:send)?$/;

/** Undefined when it is no name of a lane. */
export function readLane(name: string): LaneName | undefined {
  const [, lifecycle, version, part = ""] = lanePattern.exec(name) ?? [];
  if (lifecycle === undefined) return undefined;
  return { lifecycle, version: version === undefined ? undefined : Number(version), part };
}
