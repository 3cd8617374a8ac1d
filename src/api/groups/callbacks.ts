import { PawlError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { cleanText } from "../../base/json.ts";
import { causeOf, checkedLimit, checkedOptions } from "../../base/options.ts";
import { refuseInternal } from "../../definition/internal.ts";
import type { AnyLifecycle, EventOf } from "../../definition/language/public-types.ts";
import { redeemToken, refuseSpent } from "../../kernel/callbacks/tokens.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../../kernel/kernel.ts";
import { refOf } from "../../kernel/refs.ts";
import { requestHash } from "../../kernel/request-hash.ts";
import type { StartCallOptions } from "../../kernel/types/call-options.ts";
import type { Verbs } from "../../kernel/verbs.ts";
import { type CallbackView, readCallbacks, readCallbacksOf } from "../../views/callbacks.ts";
import type {
  CallbacksOptions,
  InstanceRef,
  ReceiveOptions,
  ReportedError,
  TokenReceiveOptions,
} from "../arguments/options.ts";
import { checkedDedupe, type Receives } from "../arguments/receives.ts";
import { type Callback, callbackOf, type Instance, noInstance, type ReceivedCallback } from "../results.ts";
import { shownInstance } from "../shown-instance.ts";

/** What came in from outside: `pawl.callbacks`. */
export class Callbacks {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #receives: Receives;

  /** @internal */
  constructor(kernel: Kernel, verbs: Verbs, receives: Receives) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#receives = receives;
  }

  /**
   * Takes an outside service's word that it failed. Stored and matched like a result, but it never completes anything: the
   * instance fails with the reason `callback_error`, by its state's own `fail` edge if it has one, and recovers as it would
   * of any other failure.
   *
   * ```ts
   * await pawl.callbacks.receiveError(essay, "sub-42", "graded", { message: "the model is overloaded" }, { dedupeKey: requestId });
   * ```
   */
  async receiveError<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    event: EventOf<L>,
    error: ReportedError,
    options: ReceiveOptions,
  ): Promise<ReceivedCallback> {
    return this.#receives.store(lifecycle, instance, event, { payload: undefined, error }, options);
  }

  /**
   * The same for whoever holds a token that a step has handed out with `step.callbackToken(event)`: instance and event are
   * the token's. Throws `token_invalid` when it is forged or has expired, and `token_spent` when ten different callbacks came
   * by it.
   */
  async receiveByToken(
    token: string,
    result: { readonly payload?: unknown } | { readonly error: ReportedError },
    options: TokenReceiveOptions = {},
  ): Promise<ReceivedCallback> {
    refuseInside(this.#kernel, "callbacks.receiveByToken");
    const { payload, error } = checkedOptions(result, ["payload", "error"], "result") as ResultGiven;
    const given = checkedOptions(options, ["dedupeKey", "actor"], "callbacks.receiveByToken");
    const redeemed = await redeemToken(this.#kernel, token);
    const { id, instance_id, lifecycle, event } = redeemed;
    const known = this.#kernel.lifecycles.get(lifecycle);
    if (known === undefined) {
      const message = `This callback is for a \`${lifecycle}\`, which this process does not declare. Add it to \`lifecycles\`.`;
      throw new PawlError("lifecycle_unknown", message, { lifecycle });
    }
    // Its sender may repeat it, and may also send an error first and a result later.
    const dedupeKey = given.dedupeKey ?? `token:${id}:${requestHash(event, payload, error)}`;
    const what = { payload, error: error ?? null };
    await refuseSpent(this.#kernel, redeemed, checkedDedupe(dedupeKey));
    return this.#receives.store(known, { id: instance_id }, event, what, { ...given, dedupeKey }, id);
  }

  /** What came in from outside, newest first: for all instances or for one, all of it or only what came late. */
  async list(options: CallbacksOptions = {}): Promise<Callback[]> {
    const keys = ["lifecycle", "instance", "status", "late", "limit", "after"];
    const {
      lifecycle,
      instance,
      status,
      late = false,
      limit = 100,
      after,
    } = checkedOptions(options, keys, "callbacks.list");
    refuseInside(this.#kernel, "callbacks.list");
    if (status !== undefined && !statuses.includes(status))
      throw new PawlError("option_invalid", `\`status\` must be one of ${statuses.join(", ")}.`);
    const page = {
      lifecycle: lifecycle === undefined ? null : knownLifecycle(this.#kernel, lifecycle).name,
      status: status ?? null,
      late: Boolean(late),
      beforeId: after === undefined ? null : callbackIdOf(after.id),
      limit: checkedLimit(limit),
    };
    if (instance === undefined) return (await readCallbacks(this.#kernel.db, page)).map(callbackOf);
    if (lifecycle === undefined)
      throw new PawlError("option_invalid", "Say with `lifecycle` which kind of instance is meant.");
    const row = await this.#verbs.read(knownLifecycle(this.#kernel, lifecycle), refOf(instance), undefined);
    if (row === undefined) throw noInstance(lifecycle, instance);
    return (await readCallbacksOf(this.#kernel.db, row.id, page)).map(callbackOf);
  }

  /** One callback; undefined when there is none. */
  async get(id: string): Promise<Callback | undefined> {
    const found = await this.#verbs.callback(callbackIdOf(id));
    return found === undefined ? undefined : callbackOf(found);
  }

  /**
   * Accepts a result that came after the deadline and was kept, or that came in time and still waits when its instance has
   * failed: the instance goes from `failed` the way that the result would have led it in the state where it failed, or where
   * it is taken. Journaled as `accept_late`, with who did it and why.
   *
   * ```ts
   * const [late] = await pawl.callbacks.list({ lifecycle: essay, instance: "sub-42", late: true });
   * await pawl.callbacks.acceptLate(late.id, { actor: "grace", reason: "the grader was down" });
   * ```
   */
  async acceptLate(id: string, options: StartCallOptions = {}): Promise<Instance> {
    const { tx, ...by } = checkedOptions(options, ["tx", "actor", "reason"], "callbacks.acceptLate");
    return this.#verbs.inTurn(tx, async () => {
      const callback = await this.#verbs.callback(callbackIdOf(id), tx);
      if (callback === undefined)
        throw new PawlError("callback_unknown", `There is no callback with the id ${id}.`, { callback: id });
      refuseInternal(callback.lifecycle, "callbacks.acceptLate");
      refuseUnacceptable(callback);
      const sent = await this.#verbs.acceptLate(callback, causeOf(by), tx);
      if (!sent.ok) throw sent.error;
      return shownInstance(this.#kernel, this.#kernel.lifecycles.get(callback.lifecycle)!, sent.instance);
    });
  }
}

interface ResultGiven {
  readonly payload?: unknown;
  readonly error?: ReportedError;
}

const statuses: readonly string[] = ["waiting", "applied", "kept", "rejected", "refused", "accepted"];

function callbackIdOf(given: unknown): string {
  const id = typeof given === "string" ? given.toLowerCase() : given;
  if (isId(id)) return id;
  throw new PawlError("option_invalid", `"${cleanText(String(given), 100)}" is not the id of a callback.`);
}

function refuseUnacceptable({ id, status, error, is_current }: CallbackView): void {
  const refuse = (why: string) => {
    throw new PawlError("callback_decided", `Callback ${id} cannot be accepted: ${why}.`, { callback: id, status });
  };
  if (status !== "kept" && status !== "waiting")
    refuse(`it is ${status}, and only one that was kept as late or still waits can be`);
  if (error !== null) refuse(`it tells of an error, which completes nothing (${error.message})`);
  if (!is_current) refuse("its instance has begun anew since it came");
}
