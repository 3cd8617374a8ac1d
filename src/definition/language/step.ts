import type { Duration } from "../../base/duration.ts";
import type {
  AnyLifecycle,
  DataOf,
  EventOf,
  PayloadArgument,
  PayloadOf,
  StartDataOf,
  StateOf,
} from "./public-types.ts";
import type { Storable } from "./storable.ts";

/** The step ends with an event: `return step.go("graded", { score: 7 })`. */
export interface Go<Event extends string = string, Payload = unknown> {
  readonly kind: "go";
  readonly event: Event;
  readonly payload: Payload;
}

/** The step is to run again later, and this attempt does not count. */
export interface RetryLater {
  readonly kind: "retry_later";
  readonly after: Duration | undefined;
  readonly reason: string | undefined;
}

/** The step will never succeed: no further attempt, the instance fails with this reason. */
export interface GiveUp {
  readonly kind: "give_up";
  readonly reason: string;
}

/** An instance that a step or an effect started. */
export interface Child<L extends AnyLifecycle = AnyLifecycle> {
  readonly id: string;
  readonly lifecycle: string;
  /** Its own among the children of one run of its parent. */
  readonly key: string | null;
  readonly state: StateOf<L>;
  /** How it ended; null while it is open. One in `failed` has ended if it will not recover by itself. */
  readonly outcome: "success" | "failure" | "discarded" | null;
  readonly data: DataOf<L>;
}

/** A reference to an instance: its key, its id or, for a child, the key that it was started with. */
type InstanceRef = string | { readonly id: string } | { readonly child: string };

/** The arguments of a start. The data may be omitted if the lifecycle requires none. */
export type StartOptions<L extends AnyLifecycle> = {
  /** Its own name, unique per lifecycle: a second start with the same key finds the first. */
  readonly key?: string;
} & (NeedsNoData<L> extends true ? { readonly data?: StartDataOf<L> } : { readonly data: StartDataOf<L> });

/** The same as the last argument of a function, which may be left out as a whole then. */
type StartArguments<L extends AnyLifecycle> =
  NeedsNoData<L> extends true ? [options?: StartOptions<L>] : [options: StartOptions<L>];

type NeedsNoData<L extends AnyLifecycle> = Record<string, never> extends StartDataOf<L> ? true : false;

export interface StepSendOptions {
  /** The receiver gets the event this much later, and keeps it until then as any other delayed event. */
  readonly after?: Duration;
}

/** The end of the arguments of `step.send`: a payload where the event takes one, then options. */
type StepSendArguments<Payload> = [Payload] extends [undefined]
  ? [options?: StepSendOptions]
  : undefined extends Payload
    ? [payload?: Payload, options?: StepSendOptions]
    : [payload: Payload, options?: StepSendOptions];

/** The common part of a step and an effect: the instance, and actions that commit with the outcome. */
export interface Work<Data> {
  readonly data: Data;
  readonly id: string;
  readonly key: string | null;
  /** The instance whose step started this one; null when a call did. */
  readonly parent: { readonly lifecycle: string; readonly id: string } | null;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  /**
   * The same over all attempts of this visit to the state: for requests that must be repeated when the instance enters
   * the state again, for example after a fallback to a checkpoint. What must happen once per instance, such as a
   * payment, uses `keyFor`.
   */
  readonly idempotencyKey: string;
  /**
   * A key for a request that is to take effect once: the same for this instance and this name in every state, visit, attempt
   * and recovery. A `restart` begins a new run of the instance, and with it new keys.
   *
   * ```ts
   * await bank.transfer(step.data.amount, { idempotencyKey: step.keyFor("payout"), signal: step.signal });
   * ```
   */
  keyFor(name: string): string;
  /** Aborts when the result would no longer count; its reason says why. */
  readonly signal: AbortSignal;
  /** Puts a message in the outbox, published if and only if the outcome commits. */
  publish<Payload>(topic: string, payload: Payload & Storable<Payload>): void;
  /**
   * Starts a child with the outcome. Its key is unique among the children of this run: when the step runs again, an
   * existing key means the same child. After a `restart` there are none, and all are started again.
   */
  start<L extends AnyLifecycle>(lifecycle: L, ...options: StartArguments<L>): void;
  /** The current children of this run: those of `lifecycle`, or all. */
  children<L extends AnyLifecycle>(lifecycle: L): Promise<Child<L>[]>;
  children(): Promise<Child[]>;
  /**
   * Sends an event to another instance with the outcome: delivered once, soon after. What one step sends to one instance
   * arrives in its order. A refusal is kept in the history of both, with every blocker.
   *
   * ```ts
   * for (const child of await step.children(solve)) step.send(solve, child, "resubmit");
   * step.send(solve, { child: "question-7" }, "resubmit");
   * step.send(solve, { child: "question-8" }, "resubmit", { after: "10m" });
   * ```
   */
  send<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: StepSendArguments<PayloadOf<L, Event>>
  ): void;
  /** Keeps the result of `work`, so that the next attempt of this visit does not do it again. */
  once<Result>(
    name: string,
    work: () => (Result & Storable<Result>) | Promise<Result & Storable<Result>>,
  ): Promise<Result>;
  /**
   * The same with a scope: `"instance"` keeps the result for every state and visit of this run of the instance, until a
   * `restart`; `"visit"` is the default.
   *
   * ```ts
   * const payout = await step.once("payout", { scope: "instance" }, () =>
   *   bank.transfer(step.data.amount, { idempotencyKey: step.keyFor("payout") }),
   * );
   * ```
   */
  once<Result>(
    name: string,
    options: { readonly scope: "visit" | "instance" },
    work: () => (Result & Storable<Result>) | Promise<Result & Storable<Result>>,
  ): Promise<Result>;
  /** Shown in console and CLI: `step.progress(0.4, "page 12 of 30")`. */
  progress(fraction: number, note?: string): void;
  /** A line in the log, with the instance and the attempt named. */
  log(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /**
   * Calls an external dependency under its breaker: the call is counted, and refused at once with a `CircuitOpenError`
   * while the breaker is open. A step that does not catch that is deferred until the breaker may let it through,
   * without spending its attempt.
   *
   * ```ts
   * const text = await step.call("stt", (signal) => speech.transcribe(step.data.audio, { signal }));
   * ```
   */
  call<Result>(dependency: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /**
   * Creates a token with which an external service can answer for `event` of this instance, in a URL or a header. It is
   * valid for this event and this run of the instance, by default for seven days. Only its hash is stored; another
   * attempt gets another token, and all of them are valid.
   *
   * ```ts
   * const token = await step.callbackToken("graded");
   * step.publish("grading.request", { text: step.data.text, callback: `https://grader.example.com/callbacks/${token}` });
   * ```
   */
  callbackToken(event: string, options?: { readonly expiresIn?: Duration }): Promise<string>;
  /** `return step.retryLater({ after: "10m" })`: runs again later without spending an attempt. */
  retryLater(options?: { readonly after?: Duration; readonly reason?: string }): RetryLater;
  /** `return step.giveUp("no such address")`: no further attempt. */
  giveUp(reason: string): GiveUp;
}

/**
 * The argument of a state's `run`. Handlers in files of their own name the data and the outcomes that they use:
 *
 * ```ts
 * import type { Step } from "pawl";
 *
 * async function grade(step: Step<Essay, { graded: { score: number } }>) {
 *   const score = await llm.grade(step.data.text, { signal: step.signal });
 *   return step.go("graded", { score });
 * }
 * ```
 */
export interface Step<Data = Record<string, never>, Outcomes extends object = object> extends Work<Data> {
  /** The payload of the event that led into this state. */
  readonly payload: unknown;
  /** A patch of the data, committed with the outcome and with nothing else. */
  set(patch: Partial<Data>): void;
  /** The event to end with. */
  go<Event extends keyof Outcomes & string>(
    event: Event,
    ...payload: PayloadArgument<Outcomes[Event]>
  ): Go<Event, Outcomes[Event]>;
}

/** The argument of an edge's `after`: a task of its own, retried on its own, after the move was committed. */
export interface Effect<Data = Record<string, never>, Payload = unknown> extends Work<Data> {
  /** The payload of the event that made the move. */
  readonly payload: Payload;
}

type OutcomeOf<Outcomes> = { [Event in keyof Outcomes & string]: Go<Event, Outcomes[Event]> }[keyof Outcomes & string];

/**
 * The return value of a `run`: one of its state's outcomes, or `retryLater` or `giveUp`. Returning nothing means the
 * only event of its state, if there is only one and it needs no payload.
 */
export type Returned<Outcomes, Nothing> =
  | OutcomeOf<Outcomes>
  | RetryLater
  | GiveUp
  | Nothing
  | Promise<OutcomeOf<Outcomes> | RetryLater | GiveUp | Nothing>;
