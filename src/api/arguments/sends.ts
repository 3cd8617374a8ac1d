import { PawlError } from "../../base/errors.ts";
import { checkedOptions, refuseMore, textOrNull } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import { takesPayload } from "../../definition/decide/decide.ts";
import { misplaced, refuseMisplacedOptions } from "../../definition/decide/misplaced-options.ts";
import { refuseInternal } from "../../definition/internal.ts";
import type { AnyLifecycle, EventOf } from "../../definition/language/public-types.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import { asPawlError } from "../../kernel/errors.ts";
import { type Kernel, knownLifecycle } from "../../kernel/kernel.ts";
import { refOf } from "../../kernel/refs.ts";
import { requestHash } from "../../kernel/request-hash.ts";
import type { CallOptions } from "../../kernel/types/call-options.ts";
import type { Send, Sent } from "../../kernel/types/send.ts";
import type { Verbs } from "../../kernel/verbs.ts";
import { instanceResult } from "../instance-result.ts";
import { orRefusal } from "../refusal.ts";
import type { Instance, SendResult } from "../results.ts";
import {
  checkedList,
  delayOf,
  type InstanceRef,
  type SendArguments,
  type SendItem,
  type SendOptions,
} from "./options.ts";

/** Sends events, for the methods of `Pawl` of the same names. */
export class Sends {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;

  constructor(kernel: Kernel, verbs: Verbs) {
    this.#kernel = kernel;
    this.#verbs = verbs;
  }

  /** Sends an event to an instance. Throws `transition_refused` with all blockers if the event is not allowed. */
  async send<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: SendArguments<L, Event>
  ): Promise<Instance<L>> {
    const known = knownLifecycle(this.#kernel, lifecycle);
    const { payload, options } = splitPayload<SendOptions>(known, event, rest, { call: "send", keys: sendKeys });
    return this.#verbs.inTurn(options.tx, async () => {
      const sent = await this.#verbs.send(this.#sendOf(lifecycle, instance, event, payload, options), options.tx);
      if (!sent.ok) throw sent.error;
      return instanceResult(this.#kernel, lifecycle, sent.instance);
    });
  }

  /** Like `send`, but returns a refusal as `{ ok: false, error }`. Errors that the caller cannot fix are thrown. */
  async trySend<L extends AnyLifecycle, Event extends EventOf<L>>(
    lifecycle: L,
    instance: InstanceRef,
    event: Event,
    ...rest: SendArguments<L, Event>
  ): Promise<SendResult<L>> {
    return orRefusal(async () => ({ ok: true, instance: await this.send(lifecycle, instance, event, ...rest) }));
  }

  /**
   * Sends many independent events, and returns the results in the order of the items, refusals among them as values.
   */
  async sendMany<L extends AnyLifecycle>(
    lifecycle: L,
    items: readonly SendItem<L>[],
    options: CallOptions = {},
  ): Promise<SendResult<L>[]> {
    const { tx } = checkedOptions(options, ["tx"], "sendMany");
    const known = knownLifecycle(this.#kernel, lifecycle);
    const asked = checkedList(items).map((item): Send | PawlError => {
      try {
        const { to, event, payload, ...rest } = checkedOptions(item, [...itemKeys, ...sendKeys], "sendMany");
        return this.#sendOf(known, to, event, payload, rest as SendOptions);
      } catch (error) {
        return asPawlError(error);
      }
    });
    const sends = asked.filter((one): one is Send => !(one instanceof PawlError));
    const answers = (await this.#verbs.inTurn(tx, () => this.#verbs.sendMany(sends, tx))).values();
    return asked.map((one): SendResult<L> => {
      if (one instanceof PawlError) return { ok: false, error: one };
      const sent: Sent = answers.next().value!;
      return sent.ok ? { ok: true, instance: instanceResult(this.#kernel, lifecycle, sent.instance) } : sent;
    });
  }

  #sendOf(lifecycle: AnyLifecycle, instance: unknown, event: unknown, payload: unknown, options: SendOptions): Send {
    const { expectedVersion, idempotencyKey } = options;
    if (expectedVersion !== undefined && !Number.isInteger(expectedVersion)) {
      throw new PawlError("option_invalid", "`expectedVersion` must be the version of an instance, a whole number.");
    }
    const delay = delayOf(options);
    const name = checkedText(event, "The event");
    const known = knownLifecycle(this.#kernel, lifecycle);
    refuseInternal(known.name, "send");
    return {
      lifecycle: known,
      ref: refOf(instance),
      event: name,
      payload,
      actor: textOrNull(options.actor, "The actor"),
      reason: textOrNull(options.reason, "The reason"),
      expectedVersion,
      idempotency:
        idempotencyKey === undefined
          ? undefined
          : { key: checkedText(idempotencyKey, "The idempotency key"), hash: requestHash(name, payload, delay) },
      delay,
      requestId: this.#kernel.newId(),
    };
  }
}

/** Events without a payload have their options in its place. */
export function splitPayload<Options extends object>(
  lifecycle: LifecycleModel,
  event: string,
  rest: readonly unknown[],
  { call, keys }: { readonly call: string; readonly keys: readonly string[] },
): { payload: unknown; options: Options } {
  const takes = takesPayload(lifecycle, event);
  const [payload, options, ...stray] = takes || rest.length > 1 ? rest : [undefined, rest[0]];
  refuseMore(stray, call, "Its last arguments are an event, its payload and options.");
  if (rest.length === 1 && takes) refuseOptionsAsPayload(lifecycle, event, payload, { call, keys });
  return { payload, options: checkedOptions(options as Options, keys, call) };
}

/** Where a payload is optional, options in its place would be taken for it and lost. */
function refuseOptionsAsPayload(
  lifecycle: LifecycleModel,
  event: string,
  payload: unknown,
  { call: verb, keys: known }: { readonly call: string; readonly keys: readonly string[] },
): void {
  const call = `\`${verb}\` of \`${event}\``;
  const target = verb === "send" ? "instance" : "filter";
  const remedy = `Pass the payload first, or undefined: ${verb}(lifecycle, ${target}, "${event}", undefined, options).`;
  if (event !== "fail") {
    refuseMisplacedOptions(payload, known, { schema: lifecycle.events.get(event), call, remedy });
    return;
  }
  const keys = typeof payload === "object" && payload !== null ? Object.keys(payload) : [];
  // A failure has a reason of its own.
  if (keys.every((key) => key === "reason") || !keys.every((key) => known.includes(key))) return;
  throw misplaced(keys, call, remedy);
}

const itemKeys = ["to", "event", "payload"];
const sendKeys = ["tx", "actor", "reason", "expectedVersion", "idempotencyKey", "after", "at"];
