import { isDeepStrictEqual } from "node:util";
import type { AnyStep } from "../code/any-step.ts";
import type { Owner } from "../world/virtual-time.ts";
import type { LaneClosure } from "./bounds.ts";

/** What a caller was told: it is done, it is not done, or it cannot be known. */
export type Answer = "done" | "not done" | "unknown";

type Problem = "I3" | "I5" | "I6" | "gates";

export interface Call {
  readonly what: "start" | "send" | "delayed" | "callback";
  /** The name of the instance. */
  readonly name: string;
  answer: Answer;
}

/** One attempt of a handler, as it was seen from inside. */
export interface Attempt {
  readonly lifecycle: string;
  readonly state: string;
  readonly name: string;
  readonly key: string;
  readonly attempt: number;
  readonly kind: "step" | "effect" | "reset";
  /** The process that runs it. */
  readonly owner: Owner | undefined;
  readonly signal: AbortSignal;
  isOver: boolean;
}

/** Everything that was seen from outside of the engine, to be held against what the tables say. */
export class Ledger {
  readonly calls = new Map<string, Call>();
  readonly tokens: { readonly name: string; readonly token: string }[] = [];
  /** Messages that the broker confirmed, in the order of their arrival. */
  readonly confirmed: { readonly id: string; readonly aggregate: string; readonly version: number | null }[] = [];
  readonly alerts: { readonly cause: string; readonly kind: string; readonly instanceId: string | null }[] = [];
  /** Events that were to be sent later: their instances, by the id of the request. */
  readonly delayed = new Map<string, string>();
  readonly closures: LaneClosure[] = [];
  readonly problems: { readonly invariant: Problem; readonly message: string }[] = [];
  readonly #attempts = new Map<string, Attempt[]>();
  readonly #keys = new Map<string, string>();
  readonly #visits = new Map<string, string>();
  readonly #memos = new Map<string, { readonly value: unknown }>();

  begin(mark: string, call: Omit<Call, "answer">): void {
    this.calls.set(mark, { ...call, answer: "unknown" });
  }

  answer(mark: string, answer: Answer): void {
    this.calls.get(mark)!.answer = answer;
  }

  /** A request with an idempotency key reached somebody outside. Two instances must never share one. */
  pay(key: string, name: string): void {
    const earlier = this.#keys.get(key);
    if (earlier !== undefined && earlier !== name) this.problem(`the key ${key} stands for ${earlier} and for ${name}`);
    this.#keys.set(key, name);
  }

  /** A step begins behind a state that takes a callback: in its first visit it has the payload that its edge has kept. */
  enter(step: Pick<AnyStep, "id" | "data" | "payload" | "idempotencyKey">, site: string): void {
    const place = `${step.id} ${site.split(" ")[1]}`;
    const first = this.#visits.get(place) ?? step.idempotencyKey;
    this.#visits.set(place, first);
    if (first !== step.idempotencyKey) return;
    const value = (step.payload as { value?: unknown } | null | undefined)?.value;
    if (value !== step.data.last)
      this.problem(`${site} got ${String(value)} as its payload, and ${String(step.data.last)} was sent`);
  }

  /** An attempt begins. No retry policy allows for more than `maxAttempts`. */
  attemptBegins(attempt: Attempt, maxAttempts: number): void {
    const key = `${attempt.kind} ${attempt.key}`;
    const earlier = (this.#attempts.get(key) ?? []).filter(({ isOver }) => !isOver);
    this.#attempts.set(key, [...earlier, attempt]);
    // Another process cannot know of it at once; this one can.
    if (earlier.some(({ owner, signal }) => owner === attempt.owner && !signal.aborted))
      this.problem(`two attempts run in one process, and neither is aborted: ${key}`, "I3");
    if (attempt.attempt > maxAttempts)
      this.problem(`attempt ${attempt.attempt} of ${maxAttempts} began: ${attempt.kind} ${attempt.key}`, "I6");
  }

  /** The work of a `once` begins: no attempt may have been told its result yet. */
  onceBegins(key: string): void {
    if (this.#memos.has(key)) this.problem(`the work of once ${key} was done again after its result was returned`);
  }

  /** A `once` has returned. */
  onceReturned(key: string, value: unknown): void {
    const known = this.#memos.get(key);
    if (known === undefined) this.#memos.set(key, { value });
    else if (!isDeepStrictEqual(known.value, value))
      this.problem(`once ${key} returned ${JSON.stringify(known.value)} and then ${JSON.stringify(value)}`);
  }

  problem(message: string, invariant: Problem = "I5"): void {
    if (this.problems.length < 20) this.problems.push({ invariant, message });
  }
}
