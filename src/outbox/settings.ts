import { type Duration, durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { checkedOptions } from "../base/options.ts";
import { exponential, type RetryPolicy } from "../policy/retry.ts";
import { failureListener, type Log } from "../telemetry/log.ts";
import type { Broker } from "./broker.ts";

export interface RelayOptions {
  /** Where messages go. Each goes to the first broker of the list that takes its type. */
  readonly brokers: readonly Broker[];
  /**
   * The number of messages per batch.
   * @default 100
   */
  readonly batchSize?: number;
  /**
   * How often it polls for messages without a hint.
   * @default "1s"
   */
  readonly pollInterval?: Duration;
  /**
   * How many batches are sent at the same time.
   * @default 4
   */
  readonly concurrency?: number;
  /**
   * The attempts per message and their delays.
   * @default 20 attempts within about an hour
   */
  readonly retry?: RetryPolicy;
  /**
   * How long this relay owns the messages of an aggregate.
   * @default long enough for its brokers
   */
  readonly leaseDuration?: Duration;
  /**
   * How long sent messages are kept; `null` keeps them.
   * @default "7d"
   */
  readonly retention?: Duration | null;
  /** Called with errors of messages, once per batch, and of the relay itself. */
  readonly onFailure?: (error: unknown) => void;
}

export interface RelaySettings {
  readonly brokers: readonly Broker[];
  readonly batchSize: number;
  readonly pollMs: number;
  readonly concurrency: number;
  readonly retry: RetryPolicy;
  readonly leaseMs: number;
  /** By our own clock, from before the lease was requested: messages not sent by then are left to the next round. */
  readonly sendWithinMs: number;
  readonly retentionMs: number | null;
  readonly onFailure: (error: unknown) => void;
}

const standardRetry: RetryPolicy = { maxAttempts: 20, backoff: exponential({ first: "1s", cap: "5m" }) };
const shortestLeaseMs = 15_000;
const longestLeaseMs = 10 * 60_000;
/** The time left to store the outcomes after the last confirmation. */
const marginMs = 1_000;

const known = [
  "brokers",
  "batchSize",
  "pollInterval",
  "concurrency",
  "retry",
  "leaseDuration",
  "retention",
  "onFailure",
] as const satisfies readonly (keyof RelayOptions)[];

export function relaySettings(given: RelayOptions, log?: Log): RelaySettings {
  const options = checkedOptions(given, known, "outbox");
  const brokers = checkedBrokers(options?.brokers);
  const slowestMs = Math.max(...brokers.map((broker) => broker.timeoutMs));
  const leaseMs =
    options.leaseDuration === undefined
      ? Math.max(shortestLeaseMs, 2 * slowestMs + marginMs)
      : durationMs(options.leaseDuration, "outbox.leaseDuration");
  const leastMs = slowestMs + 2 * marginMs;
  if (leaseMs < leastMs || leaseMs > longestLeaseMs) {
    throw new PawlError(
      "option_invalid",
      `\`outbox.leaseDuration\` must be from ${leastMs} ms (a broker can take ${slowestMs} ms to confirm) to 10 minutes.`,
    );
  }
  return {
    brokers,
    leaseMs,
    sendWithinMs: leaseMs - slowestMs - marginMs,
    batchSize: wholeNumber(options.batchSize ?? 100, "batchSize", 10_000),
    pollMs: Math.max(10, durationMs(options.pollInterval ?? "1s", "outbox.pollInterval")),
    concurrency: wholeNumber(options.concurrency ?? 4, "concurrency", 64),
    retry: checkedRetry(options.retry ?? standardRetry),
    retentionMs: options.retention === null ? null : durationMs(options.retention ?? "7d", "outbox.retention"),
    onFailure: failureListener(log, options.onFailure),
  };
}

function checkedBrokers(given: unknown): readonly Broker[] {
  const brokers = given as readonly Partial<Broker>[] | undefined;
  if (!Array.isArray(brokers) || brokers.length === 0) {
    throw new PawlError("option_invalid", "`outbox.brokers` must list brokers, such as rabbitmq({ url }).");
  }
  for (const broker of brokers) {
    if (typeof broker?.publish !== "function" || typeof broker.takes !== "function" || !(broker.timeoutMs! > 0)) {
      throw new PawlError(
        "option_invalid",
        "`outbox.brokers` must list return values of rabbitmq(), webhooks() or memoryBroker().",
      );
    }
  }
  const twice = brokers.find((one, at) => brokers.findIndex((other) => other.name === one.name) < at);
  if (twice === undefined) return brokers as readonly Broker[];
  throw new PawlError(
    "option_invalid",
    `Two brokers have the name \`${twice.name}\`. Give one of them another \`name\`.`,
  );
}

function checkedRetry(given: RetryPolicy): RetryPolicy {
  const { maxAttempts, backoff } = given;
  if (Number.isInteger(maxAttempts) && maxAttempts >= 1 && (backoff === undefined || typeof backoff === "function"))
    return given;
  throw new PawlError(
    "option_invalid",
    "`outbox.retry` must be { maxAttempts, backoff }: a whole number of at least 1, and optionally a function.",
  );
}

function wholeNumber(given: unknown, name: string, most: number): number {
  if (Number.isInteger(given) && (given as number) >= 1 && (given as number) <= most) return given as number;
  throw new PawlError("option_invalid", `\`outbox.${name}\` must be a whole number from 1 to ${most}.`);
}
