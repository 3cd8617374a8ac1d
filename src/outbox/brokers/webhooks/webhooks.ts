import { type Duration, durationMs } from "../../../base/duration.ts";
import { messageOf, PawlError } from "../../../base/errors.ts";
import { guardListener } from "../../../base/guard.ts";
import { checkedOptions, optionNames } from "../../../base/options.ts";
import { PermanentError, TransientError } from "../../../base/step-errors.ts";
import { matchesTopic } from "../../../policy/topic.ts";
import { warnOfListener } from "../../../telemetry/listener-warning.ts";
import { type Broker, BrokerAway, type OutboxMessage } from "../../broker.ts";
import { Endpoints } from "./endpoints.ts";
import { Guard, type Resolve } from "./guard.ts";
import type { GuardOptions } from "./guard-options.ts";
import { type Answer, NotConnected, Poster } from "./post.ts";
import { retryAfterMs } from "./retry-after.ts";
import { signWebhook, webhookKey } from "./signature.ts";

/** The receiver of a message, and its secrets. */
export interface WebhookEndpoint {
  /** The name of the endpoint, which stays when its URL changes. */
  readonly id: string;
  readonly url: string;
  /** `whsec_…`, the newest first: while one is replaced, messages are signed with all of them. */
  readonly secrets: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WebhooksOptions extends GuardOptions {
  /**
   * The name of the broker.
   * @default "webhooks"
   */
  readonly name?: string;
  /**
   * The types of messages to send, with patterns such as `invoice.*` and `#`.
   * @default all
   */
  readonly types?: readonly string[];
  /**
   * The endpoint of a message: one for all, or looked up for each. `null`: there is no receiver, and the message counts
   * as sent.
   */
  readonly endpoint:
    | WebhookEndpoint
    | ((message: OutboxMessage) => WebhookEndpoint | null | Promise<WebhookEndpoint | null>);
  /**
   * The timeout of a request, 30 s at most.
   * @default "15s"
   */
  readonly timeout?: Duration;
  /**
   * The age at which an unsent message is dead. While no connection to its endpoint can be made, only this ends it,
   * since what was not sent spends no attempt.
   * @default "5d"
   */
  readonly giveUpAfter?: Duration;
  /** Certificates to trust instead of those that Node knows. */
  readonly ca?: string | Uint8Array;
  /** Called when an endpoint is disabled because it answered 410 Gone; remove it from your list. */
  readonly onDisabled?: (endpoint: WebhookEndpoint, reason: string) => void;
}

/**
 * Posts messages to endpoints, signed according to Standard Webhooks; by default to public addresses only.
 *
 * ```ts
 * webhooks({ types: ["invoice.*"], endpoint: async (message) => endpointOf(message.aggregate.id) })
 * ```
 */
export function webhooks(options: WebhooksOptions): WebhooksBroker {
  return new WebhooksBroker(checkedOptions(options, known, "webhooks"));
}

const known = optionNames<WebhooksOptions>({
  name: true,
  types: true,
  endpoint: true,
  timeout: true,
  giveUpAfter: true,
  ca: true,
  onDisabled: true,
  allowHttp: true,
  ports: true,
  allowedNetworks: true,
});

const longestTimeoutMs = 30_000;
/** How soon an endpoint that cannot be reached is tried again, until it rests. */
const reconnectMs = 1_000;

/** Sends each message once; `outbox/delivery.ts` retries what fails. */
export class WebhooksBroker implements Broker {
  readonly name: string;
  readonly timeoutMs: number;
  readonly #options: WebhooksOptions;
  readonly #types: readonly string[];
  readonly #giveUpAfterMs: number;
  readonly #guard: Guard;
  readonly #poster: Poster;
  readonly #endpoints = new Endpoints();

  /** @internal Use `webhooks`. */
  constructor(options: WebhooksOptions, resolve?: Resolve) {
    const endpoint: unknown = options?.endpoint;
    if (typeof endpoint !== "function" && (typeof endpoint !== "object" || endpoint === null)) {
      throw new PawlError("option_invalid", "`webhooks` needs an `endpoint`: { id, url, secrets }, or a function.");
    }
    this.#options = options;
    this.name = options.name ?? "webhooks";
    this.timeoutMs = durationMs(options.timeout ?? "15s", "timeout");
    if (this.timeoutMs < 1 || this.timeoutMs > longestTimeoutMs) {
      throw new PawlError("option_invalid", "`timeout` of webhooks must be 30 s at most.");
    }
    this.#types = options.types ?? ["#"];
    this.#giveUpAfterMs = durationMs(options.giveUpAfter ?? "5d", "giveUpAfter");
    this.#guard = new Guard(options, resolve);
    this.#poster = new Poster(this.#guard, { ca: pem(options.ca) });
    if (typeof endpoint === "object") checkEndpoint(endpoint as WebhookEndpoint, this.#guard);
  }

  takes(type: string): boolean {
    return this.#types.some((pattern) => matchesTopic(pattern, type));
  }

  awayMs(): number {
    return 0;
  }

  async publish(message: OutboxMessage): Promise<void> {
    const { endpoint: given } = this.#options;
    const endpoint = typeof given === "function" ? await given(message) : given;
    if (endpoint === null) return;
    const url = checkEndpoint(endpoint, this.#guard);
    const disabled = this.#endpoints.disabled(endpoint.id);
    if (disabled !== undefined) throw new PermanentError(`The endpoint \`${endpoint.id}\` is disabled: ${disabled}.`);
    if (Date.now() - message.createdAt.getTime() > this.#giveUpAfterMs) {
      throw new PermanentError(`It could not be sent to \`${endpoint.id}\` within ${this.#giveUpAfterMs} ms.`);
    }
    const restMs = this.#endpoints.restMs(endpoint.id);
    if (restMs > 0) throw new BrokerAway(`The endpoint \`${endpoint.id}\` is backing off.`, { retryAfterMs: restMs });
    await this.#post(endpoint, url, message);
  }

  /** Sends to an endpoint again that had been disabled. */
  enable(id: string): void {
    this.#endpoints.enable(id);
  }

  async close(): Promise<void> {
    this.#poster.close();
  }

  async #post(endpoint: WebhookEndpoint, url: URL, message: OutboxMessage): Promise<void> {
    const { type, createdAt } = message;
    const head = JSON.stringify({ type, timestamp: createdAt.toISOString() });
    const body = `${head.slice(0, -1)},"data":${message.body}}`;
    const signature = signWebhook({ id: message.id, atMs: Date.now(), body }, endpoint.secrets);
    const headers = {
      ...endpoint.headers,
      "content-type": "application/json",
      "user-agent": "pawl-webhooks",
      ...signature,
    };
    let answer: Answer;
    try {
      answer = await this.#poster.post({ url, headers, body, timeoutMs: this.timeoutMs });
    } catch (error) {
      if (error instanceof PermanentError) throw error;
      this.#endpoints.failed(endpoint.id);
      const message = `Could not reach endpoint \`${endpoint.id}\`: ${failureOf(error, this.timeoutMs)}`;
      if (!(error instanceof NotConnected)) throw new Error(message, { cause: error });
      // Nothing was sent, so no attempt is spent: `giveUpAfter` ends this.
      throw new BrokerAway(message, { retryAfterMs: this.#endpoints.restMs(endpoint.id) || reconnectMs, cause: error });
    }
    this.#judge(endpoint, answer);
  }

  /** Any 2xx is a yes, and nothing else is: a redirect could lead anywhere. */
  #judge(endpoint: WebhookEndpoint, { status, retryAfter }: Answer): void {
    if (status >= 200 && status < 300) {
      this.#endpoints.succeeded(endpoint.id);
      return;
    }
    const said = `Endpoint \`${endpoint.id}\` responded with ${status}.`;
    if (status === 410) {
      this.#endpoints.disable(endpoint.id, "it responded with 410 Gone");
      guardListener(this.#options.onDisabled, warnOfListener("onDisabled"))(endpoint, said);
      throw new PermanentError(said);
    }
    const pauseMs = status === 429 || status === 503 ? retryAfterMs(retryAfter, Date.now()) : undefined;
    this.#endpoints.failed(endpoint.id, pauseMs);
    throw pauseMs === undefined ? new Error(said) : new TransientError(said, { retryAfterMs: pauseMs });
  }
}

/** As text, or as the only kind of bytes that Node's TLS takes. */
function pem(given: WebhooksOptions["ca"]): string | Buffer | undefined {
  return given === undefined || typeof given === "string" ? given : Buffer.from(given);
}

function failureOf(error: unknown, timeoutMs: number): string {
  const { name } = (error instanceof NotConnected ? error.cause : error) as { name?: string };
  return name === "AbortError" || name === "TimeoutError"
    ? `it did not respond within ${timeoutMs} ms`
    : messageOf(error);
}

/** Its URL, if it is valid. An endpoint from a function can be invalid for one message only. */
function checkEndpoint(endpoint: WebhookEndpoint, guard: Guard): URL {
  if (typeof endpoint?.id !== "string" || endpoint.id === "" || typeof endpoint.url !== "string") {
    throw new PawlError("option_invalid", "An endpoint must be { id, url, secrets }.");
  }
  if (!Array.isArray(endpoint.secrets) || endpoint.secrets.length === 0 || endpoint.secrets.length > 10) {
    throw new PawlError("option_invalid", `The endpoint \`${endpoint.id}\` needs one to ten \`secrets\`.`);
  }
  for (const secret of endpoint.secrets) webhookKey(secret);
  return guard.checkedUrl(endpoint.url);
}
