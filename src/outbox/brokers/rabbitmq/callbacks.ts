import { isPawlError, messageOf, PawlError } from "../../../base/errors.ts";
import { guardListener, refusePromise } from "../../../base/guard.ts";
import { checkedOptions } from "../../../base/options.ts";
import type { AnyLifecycle } from "../../../definition/language/public-types.ts";
import { noteRejection } from "../../../kernel/callbacks/rejections.ts";
import { kernelOf } from "../../../kernel/kernel-of.ts";
import { warnOfListener } from "../../../telemetry/listener-warning.ts";
import { errorFields, logFailure } from "../../../telemetry/log.ts";
import { type ConsumeOptions, Consumer, consumeOptions, type IncomingMessage, type Verdict } from "./consumer.ts";

interface CallbackOptions {
  readonly dedupeKey: string;
  readonly actor?: string | undefined;
}

interface ReportedFailure {
  readonly message: string;
  readonly name?: string | undefined;
  readonly code?: string | undefined;
}

/** The receiver of the callbacks: a `Pawl`. */
export interface CallbackReceiver {
  receive(
    lifecycle: AnyLifecycle,
    instance: string | { readonly id: string },
    event: string,
    payload: unknown,
    options: CallbackOptions,
  ): Promise<unknown>;
  readonly callbacks: {
    receiveError(
      lifecycle: AnyLifecycle,
      instance: string | { readonly id: string },
      event: string,
      error: ReportedFailure,
      options: CallbackOptions,
    ): Promise<unknown>;
    receiveByToken(
      token: string,
      result: { readonly payload?: unknown } | { readonly error: ReportedFailure },
      options: Partial<CallbackOptions>,
    ): Promise<unknown>;
  };
  /** Rejects while the database cannot be reached: then no messages are requested. */
  ping?(): Promise<unknown>;
}

/** A message of a queue of callbacks. */
export interface CallbackMessage extends IncomingMessage {
  /** Its body, which was JSON. */
  readonly json: unknown;
}

/** The content of a message: an event for an instance, or a token, with a result or an error. */
export type ReadCallback = (
  | { readonly lifecycle: AnyLifecycle; readonly instance: string | { readonly id: string }; readonly event: string }
  | { readonly token: string }
) & {
  readonly payload?: unknown;
  readonly error?: ReportedFailure | undefined;
  /**
   * Identifies the callback.
   * @default the id of the message
   */
  readonly dedupeKey?: string | undefined;
  readonly actor?: string | undefined;
};

export interface CallbackQueueOptions extends Omit<ConsumeOptions, "handler"> {
  /** Reads a message. A throw, or undefined, means that it is no callback: it is rejected. */
  readonly read: (message: CallbackMessage) => ReadCallback | undefined;
}

const known = ["read", ...consumeOptions.filter((name) => name !== "handler")];

/**
 * Consumes the messages of a queue as callbacks: each is stored and committed, and then acknowledged, so it is
 * delivered again if this process dies before. While the database is away messages are held, for any length of time. A
 * message that is not a callback, or for an unknown instance, is logged with the reason and rejected to the queue's
 * dead-letter exchange; if `deadLetters.queues` reads the dead-letter queue, the dead letter has the reason, too.
 *
 * ```ts
 * const consumer = consumeCallbacks(pawl, {
 *   url,
 *   queue: "grading.callback",
 *   read: ({ json }) => {
 *     const { requestId, submissionId, score } = Callback.parse(json);
 *     return { lifecycle: essay, instance: submissionId, event: "graded", payload: { score }, dedupeKey: requestId };
 *   },
 * });
 * ```
 */
export function consumeCallbacks(pawl: CallbackReceiver, given: CallbackQueueOptions): Consumer {
  const { read, ...options } = checkedOptions(given, known, "consumeCallbacks");
  if (typeof read !== "function")
    throw new PawlError("option_invalid", "`consumeCallbacks` needs `read`, a function that reads a message.");
  const { queue } = options;
  const kernel = kernelOf(pawl);
  const log = kernel?.telemetry.log;
  const unlogged = warnOfListener("onFailure");
  const onFailure = guardListener(options.onFailure, (error) =>
    log === undefined ? unlogged(error) : logFailure(log, error),
  );
  return new Consumer({
    ...options,
    available: options.available ?? (() => pawl.ping?.() ?? Promise.resolve()),
    onFailure(error) {
      log?.warn(errorFields(error), messageOf(error));
      onFailure(error);
    },
    handler: async (message): Promise<Verdict> => {
      try {
        await take(pawl, message, readFrom(message, read));
        return "ack";
      } catch (error) {
        // Other errors are transient: the message is delivered again.
        if (!isPawlError(error) || error.fault === "environment" || error.fault === "internal") throw error;
        if (kernel !== undefined) await noteRejection(kernel, message, error);
        const fields = { queue, messageId: message.id ?? null, correlationId: message.correlationId ?? null };
        const text = `A callback from \`${queue}\` was rejected: ${messageOf(error)}`;
        log?.error({ ...fields, ...errorFields(error) }, text);
        onFailure(error);
        return "reject";
      }
    },
  });
}

function readFrom(message: IncomingMessage, read: CallbackQueueOptions["read"]): ReadCallback {
  let said: ReadCallback | undefined;
  try {
    said = read({ ...message, json: JSON.parse(message.body.toString("utf8")) });
    refusePromise("payload_invalid", said, "`read`");
  } catch (thrown) {
    throw unreadable(message, messageOf(thrown));
  }
  if (typeof said === "object" && said !== null) return said;
  throw unreadable(message, "`read` returned nothing");
}

function unreadable({ queue, id }: IncomingMessage, why: string): PawlError {
  const which = id === undefined ? "A message" : `Message ${id}`;
  return new PawlError("payload_invalid", `${which} in \`${queue}\` is not a callback: ${why}.`, {
    queue,
    id: id ?? null,
  });
}

async function take(pawl: CallbackReceiver, message: IncomingMessage, said: ReadCallback): Promise<void> {
  const { payload, error, actor, dedupeKey = message.id } = said;
  if ("token" in said) {
    await pawl.callbacks.receiveByToken(said.token, error === undefined ? { payload } : { error }, {
      dedupeKey,
      actor,
    });
    return;
  }
  if (dedupeKey === undefined) throw unreadable(message, "it has no id, and `read` returned no `dedupeKey`");
  const { lifecycle, instance, event } = said;
  if (error === undefined) await pawl.receive(lifecycle, instance, event, payload, { dedupeKey, actor });
  else await pawl.callbacks.receiveError(lifecycle, instance, event, error, { dedupeKey, actor });
}
