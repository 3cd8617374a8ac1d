import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { cleanText } from "../base/json.ts";
import { checkedText } from "../base/text.ts";
import { takesPayload } from "../definition/decide/decide.ts";
import { refuseInternal } from "../definition/internal.ts";
import type { AnyLifecycle, EventOf } from "../definition/language/face.ts";
import { type Incoming, planArrival } from "../kernel/callbacks/receive.ts";
import { redeemToken, refuseSpent } from "../kernel/callbacks/tokens.ts";
import { refuseInside } from "../kernel/kernel.ts";
import { refOf } from "../kernel/refs.ts";
import { requestHash } from "../kernel/request-hash.ts";
import { type CallbackView, readCallbacks, readCallbacksOf } from "../views/callbacks.ts";
import { Operators } from "./operators.ts";
import {
  type CallbacksOptions,
  checkedLimit,
  checkedOptions,
  deciderOf,
  type GivenError,
  type InstanceRef,
  type ReceiveArguments,
  type ReceiveOptions,
  type StartCallOptions,
  type TokenReceiveOptions,
  textOrNull,
} from "./options.ts";
import { type Callback, callbackOf, type Instance, noInstance, type ReceivedCallback, receivedOf } from "./results.ts";

/** The verbs about results that come in from outside. A part of `Pawl`. */
export abstract class Receiving extends Operators {
  /**
   * Takes a result that comes in from outside. It is stored first, and then happens: on time as its event; early, when the
   * instance comes to a state that takes it; after the deadline by the lifecycle's `late`. The same `dedupe` again gets the
   * first answer and changes nothing.
   *
   * ```ts
   * const { accepted, late } = await pawl.receive(essay, "sub-42", "graded", { score: 7 }, { dedupe: requestId });
   * ```
   */
  async receive<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: ReceiveArguments<L, Event>
  ): Promise<ReceivedCallback> {
    const known = this.known(lifecycle);
    const [payload, options] = takesPayload(known, event) || rest.length > 1 ? rest : [undefined, rest[0]];
    return this.#receive(lifecycle, instance, event, { payload, error: null }, options as ReceiveOptions);
  }

  /**
   * Takes an outside service's word that it failed. Stored and matched like a result, but it never completes anything: the
   * instance fails with the reason `callback_error`, by its state's own `fail` edge if it has one, and recovers as it would
   * of any other failure.
   *
   * ```ts
   * await pawl.receiveError(essay, "sub-42", "graded", { message: "the model is overloaded" }, { dedupe: requestId });
   * ```
   */
  async receiveError<L extends AnyLifecycle>(
    lifecycle: L,
    instance: InstanceRef,
    event: EventOf<L>,
    error: GivenError,
    options: ReceiveOptions,
  ): Promise<ReceivedCallback> {
    return this.#receive(lifecycle, instance, event, { payload: undefined, error }, options);
  }

  /**
   * The same for whoever holds a token that a step has handed out with `step.callbackToken(event)`: instance and event are
   * the token's. Throws `token_invalid` when it is forged or has expired, and `token_spent` when ten different callbacks came
   * by it.
   */
  async receiveByToken(
    token: string,
    result: { readonly payload?: unknown } | { readonly error: GivenError },
    options: TokenReceiveOptions = {},
  ): Promise<ReceivedCallback> {
    refuseInside(this.kernel, "receiveByToken");
    const { payload, error } = checkedOptions(result, ["payload", "error"], "result") as ResultGiven;
    const given = checkedOptions(options, ["dedupe", "actor"], "receiveByToken");
    const redeemed = await redeemToken(this.kernel, token);
    const { id, instance_id, lifecycle, event } = redeemed;
    const known = this.kernel.lifecycles.get(lifecycle);
    if (known === undefined) {
      const message = `This callback is for a \`${lifecycle}\`, which this process does not declare. Add it to \`lifecycles\`.`;
      throw new PawlError("lifecycle_unknown", message, { lifecycle });
    }
    // Its sender may repeat it, and may also send an error first and a result later.
    const dedupe = given.dedupe ?? `token:${id}:${requestHash(event, payload, error)}`;
    const what = { payload, error: error ?? null };
    await refuseSpent(this.kernel, redeemed, checkedDedupe(dedupe));
    return this.#receive(known, { id: instance_id }, event, what, { ...given, dedupe }, id);
  }

  async #receive(
    lifecycle: AnyLifecycle,
    instance: InstanceRef,
    event: unknown,
    result: { readonly payload: unknown; readonly error: GivenError | null },
    options: ReceiveOptions,
    tokenId: string | null = null,
  ): Promise<ReceivedCallback> {
    const name = checkedText(event, "The event");
    const { dedupe, actor, tx } = checkedOptions(options, ["dedupe", "actor", "tx"], `receive of \`${name}\``);
    return this.verbs.inTurn(tx, async () => {
      const known = this.known(lifecycle);
      refuseInternal(known.name, "receive");
      const arrival = planArrival(this.kernel, {
        lifecycle: known,
        ref: refOf(instance),
        event: name,
        payload: result.payload,
        error: result.error === null ? null : errorOf(result.error),
        dedupe: checkedDedupe(dedupe),
        actor: textOrNull(actor, "The actor"),
        source: tokenId === null ? "call" : "token",
        lateVisit: null,
        tokenId,
      });
      const received = await this.verbs.receive(arrival, tx);
      if (received.ok) return receivedOf(received);
      throw received.error!;
    });
  }

  /** What came in from outside, newest first: for all instances or for one, all of it or only what came late. */
  async callbacks(options: CallbacksOptions = {}): Promise<Callback[]> {
    const keys = ["lifecycle", "instance", "status", "late", "limit", "after"];
    const {
      lifecycle,
      instance,
      status,
      late = false,
      limit = 100,
      after,
    } = checkedOptions(options, keys, "callbacks");
    refuseInside(this.kernel, "callbacks");
    if (status !== undefined && !statuses.includes(status))
      throw new PawlError("option_invalid", `\`status\` must be one of ${statuses.join(", ")}.`);
    const page = {
      lifecycle: lifecycle === undefined ? null : this.known(lifecycle).name,
      status: status ?? null,
      late: Boolean(late),
      beforeId: after === undefined ? null : callbackIdOf(after.id),
      limit: checkedLimit(limit),
    };
    if (instance === undefined) return (await readCallbacks(this.kernel.db, page)).map(callbackOf);
    if (lifecycle === undefined)
      throw new PawlError("option_invalid", "Say with `lifecycle` which kind of instance is meant.");
    const row = await this.verbs.read(this.known(lifecycle), refOf(instance), undefined);
    if (row === undefined) throw noInstance(lifecycle, instance);
    return (await readCallbacksOf(this.kernel.db, row.id, page)).map(callbackOf);
  }

  /** One callback; undefined when there is none. */
  async callback(id: string): Promise<Callback | undefined> {
    const found = await this.verbs.callback(callbackIdOf(id));
    return found === undefined ? undefined : callbackOf(found);
  }

  /**
   * Accepts a result that came after the deadline and was kept, or that came in time and still waits when its instance has
   * failed: the instance goes from `failed` the way that the result would have led it in the state where it failed, or where
   * it is taken. Journaled as `accept_late`, with who did it and why.
   *
   * ```ts
   * const [late] = await pawl.callbacks({ lifecycle: essay, instance: "sub-42", late: true });
   * await pawl.acceptLate(late.id, { actor: "grace", reason: "the grader was down" });
   * ```
   */
  async acceptLate(id: string, options: StartCallOptions = {}): Promise<Instance> {
    const { tx, ...by } = checkedOptions(options, ["tx", "actor", "reason"], "acceptLate");
    return this.verbs.inTurn(tx, async () => {
      const callback = await this.verbs.callback(callbackIdOf(id), tx);
      if (callback === undefined)
        throw new PawlError("callback_unknown", `There is no callback with the id ${id}.`, { callback: id });
      refuseInternal(callback.lifecycle, "acceptLate");
      refuseUnacceptable(callback);
      const sent = await this.verbs.acceptLate(callback, deciderOf(by), tx);
      if (!sent.ok) throw sent.error;
      return this.instanceOf(this.kernel.lifecycles.get(callback.lifecycle)!, sent.instance);
    });
  }
}

function checkedDedupe(given: unknown): string {
  return checkedText(given, "`dedupe`, which tells this callback from every other one of its instance,");
}

interface ResultGiven {
  readonly payload?: unknown;
  readonly error?: GivenError;
}

const statuses: readonly string[] = ["waiting", "applied", "kept", "rejected", "refused", "accepted"];

function callbackIdOf(given: unknown): string {
  const id = typeof given === "string" ? given.toLowerCase() : given;
  if (isId(id)) return id;
  throw new PawlError("option_invalid", `"${cleanText(String(given), 100)}" is not the id of a callback.`);
}

/** An error as it is kept: whatever the service said, cut to what can be stored. */
function errorOf(given: GivenError): NonNullable<Incoming["error"]> {
  const { name = "Error", message, code } = checkedOptions(given, ["name", "message", "code"], "error");
  if (typeof message !== "string" || message === "" || typeof name !== "string")
    throw new PawlError(
      "option_invalid",
      "An error callback needs `error: { message }`, and may have a `name` and a `code`.",
    );
  const kept = { name: cleanText(name, 200), message: cleanText(message) };
  return code === undefined ? kept : { ...kept, code: cleanText(String(code), 200) };
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
