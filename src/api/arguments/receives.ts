import { PawlError } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import { checkedOptions, refuseMore, textOrNull } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import { takesPayload } from "../../definition/decide/decide.ts";
import { refuseMisplacedOptions } from "../../definition/decide/misplaced-options.ts";
import { refuseInternal } from "../../definition/internal.ts";
import type { AnyLifecycle, EventOf } from "../../definition/language/public-types.ts";
import { type IncomingCallback, planCallback } from "../../kernel/callbacks/receive.ts";
import { type Kernel, knownLifecycle } from "../../kernel/kernel.ts";
import { refOf } from "../../kernel/refs.ts";
import type { Verbs } from "../../kernel/verbs.ts";
import { type ReceivedCallback, receivedOf } from "../results.ts";
import type { InstanceRef, ReceiveArguments, ReceiveOptions, ReportedError } from "./options.ts";

/** Receives callbacks, for `pawl.receive` and `pawl.callbacks`. */
export class Receives {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;

  constructor(kernel: Kernel, verbs: Verbs) {
    this.#kernel = kernel;
    this.#verbs = verbs;
  }

  /**
   * Receives a result from an external system. It is stored first and then applied: as its event; if it is early, once
   * the instance is in a state that accepts it; after the deadline, according to the lifecycle's `late`. A repeated
   * `dedupeKey` returns the first result and changes nothing.
   *
   * ```ts
   * const { accepted, late } = await pawl.receive(essay, "sub-42", "graded", { score: 7 }, { dedupeKey: requestId });
   * ```
   */
  async receive<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: ReceiveArguments<L, Event>
  ): Promise<ReceivedCallback> {
    const known = knownLifecycle(this.#kernel, lifecycle);
    const given: readonly unknown[] = rest;
    const [payload, options, ...stray] = takesPayload(known, event) || given.length > 1 ? given : [undefined, given[0]];
    refuseMore(stray, "receive", "Its arguments are a lifecycle, an instance, an event, its payload and options.");
    if (given.length === 1) {
      const remedy = `Pass the payload first, or undefined: receive(lifecycle, instance, "${event}", undefined, options).`;
      const call = `\`receive\` of \`${event}\``;
      refuseMisplacedOptions(payload, receiveKeys, { schema: known.events.get(event), call, remedy });
    }
    return this.store(lifecycle, instance, event, { payload, error: null }, options as ReceiveOptions);
  }

  async store(
    lifecycle: AnyLifecycle,
    instance: InstanceRef,
    event: unknown,
    result: { readonly payload: unknown; readonly error: ReportedError | null },
    options: ReceiveOptions,
    tokenId: string | null = null,
  ): Promise<ReceivedCallback> {
    const name = checkedText(event, "The event");
    const { dedupeKey, actor, tx } = checkedOptions(options, receiveKeys, "receive");
    return this.#verbs.inTurn(tx, async () => {
      const known = knownLifecycle(this.#kernel, lifecycle);
      refuseInternal(known.name, "receive");
      const arrival = planCallback(this.#kernel, {
        lifecycle: known,
        ref: refOf(instance),
        event: name,
        payload: result.payload,
        error: result.error === null ? null : errorOf(result.error),
        dedupe: checkedDedupe(dedupeKey),
        actor: textOrNull(actor, "The actor"),
        source: tokenId === null ? "call" : "token",
        lateVisit: null,
        tokenId,
      });
      const received = await this.#verbs.receive(arrival, tx);
      if (received.ok) return receivedOf(received);
      throw received.error!;
    });
  }
}

const receiveKeys = ["dedupeKey", "actor", "tx"];

export function checkedDedupe(given: unknown): string {
  return checkedText(given, "`dedupeKey`, which identifies the callback among those of its instance,");
}

/** Converts a reported error to what is stored, cut to size. */
function errorOf(given: ReportedError): NonNullable<IncomingCallback["error"]> {
  const { name = "Error", message, code } = checkedOptions(given, ["name", "message", "code"], "error");
  if (typeof message !== "string" || message === "" || typeof name !== "string")
    throw new PawlError(
      "option_invalid",
      "An error callback needs `error: { message }`, and may have a `name` and a `code`.",
    );
  const kept = { name: cleanText(name, 200), message: cleanText(message) };
  return code === undefined ? kept : { ...kept, code: cleanText(String(code), 200) };
}
