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
import { instanceResult } from "../instance-result.ts";
import { type Callback, callbackOf, type Instance, noInstance, type ReceivedCallback } from "../results.ts";

/** Callbacks of external systems: `pawl.callbacks`. */
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
   * Receives an error from an external system. It is stored and matched like a result, but never completes a state: the
   * instance fails with the reason `callback_error`, through the state's `fail` edge if it has one, and recovers like
   * from any other failure.
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
   * Receives a result or an error with a token of `step.callbackToken(event)`, which names the instance and the event.
   * Throws `token_invalid` if it is forged or has expired, and `token_spent` after ten different callbacks.
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
      const message = `The callback is for lifecycle \`${lifecycle}\`, which is not registered in this process. Add it to \`lifecycles\`.`;
      throw new PawlError("lifecycle_unknown", message, { lifecycle });
    }
    // The sender may repeat it, and may send an error first and a result later.
    const dedupeKey = given.dedupeKey ?? `token:${id}:${requestHash(event, payload, error)}`;
    const what = { payload, error: error ?? null };
    await refuseSpent(this.#kernel, redeemed, checkedDedupe(dedupeKey));
    return this.#receives.store(known, { id: instance_id }, event, what, { ...given, dedupeKey }, id);
  }

  /** Lists callbacks, newest first: of all instances or of one, all or only late ones. */
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
      throw new PawlError("option_invalid", "Name the lifecycle of the instance with `lifecycle`.");
    const row = await this.#verbs.read(knownLifecycle(this.#kernel, lifecycle), refOf(instance), undefined);
    if (row === undefined) throw noInstance(lifecycle, instance);
    return (await readCallbacksOf(this.#kernel.db, row.id, page)).map(callbackOf);
  }

  /** Returns a callback; undefined if it does not exist. */
  async get(id: string): Promise<Callback | undefined> {
    const found = await this.#verbs.callback(callbackIdOf(id));
    return found === undefined ? undefined : callbackOf(found);
  }

  /**
   * Accepts a late result that was kept, or a result in time that still waits while its instance is failed: the
   * instance leaves `failed` by the edge that the result would have taken in the state where it failed, or where the
   * result is accepted. The journal records `accept_late` with actor and reason.
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
      return instanceResult(this.#kernel, this.#kernel.lifecycles.get(callback.lifecycle)!, sent.instance);
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
    refuse(`it is ${status}; only late or waiting callbacks can be accepted`);
  if (error !== null) refuse(`it reports an error (${error.message})`);
  if (!is_current) refuse("its instance was restarted since it arrived");
}
