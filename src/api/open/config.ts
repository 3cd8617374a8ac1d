import type { AlertTarget } from "../../alerts/sink.ts";
import type { Duration } from "../../base/duration.ts";
import type { Marketplaces } from "../../crowd/crowd-marketplaces.ts";
import type { DeadLetterOptions } from "../../dead-letters/settings.ts";
import type { AnyCrowd } from "../../definition/crowd.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import type { AnyQueue } from "../../definition/queue.ts";
import type { AnySchedule } from "../../definition/schedule/schedule.ts";
import type { StuckAfterOptions } from "../../kernel/stuck-after.ts";
import type { RelayOptions } from "../../outbox/settings.ts";
import type { BreakerOptions } from "../../policy/breaker.ts";
import type { DatabaseLocation } from "../../store/port/location.ts";
import type { Pawl } from "../pawl.ts";

/** Limits per caller, so that no caller starves the workers and the other callers. */
export interface HttpLimits {
  /**
   * Requests per second of one token, session or user. Bursts of five times as many are allowed.
   * @default 200
   */
  readonly requestsPerSecond?: number | undefined;
  /**
   * Concurrent requests of one token, session or user. Eight times as many can wait in line.
   * @default 6
   */
  readonly concurrency?: number | undefined;
  /**
   * Open live streams of one token, session or user.
   * @default 20
   */
  readonly streams?: number | undefined;
  /**
   * Failed sign-ins and unknown tokens per minute from one address. Behind a reverse proxy, all callers have its address:
   * secrets that were valid when they were used last still pass.
   * @default 30
   */
  readonly failedSignInsPerMinute?: number | undefined;
  /**
   * Connections from one address. Behind a reverse proxy, all connections come from the proxy.
   * @default 250
   */
  readonly connectionsPerAddress?: number | undefined;
  /**
   * Connections to PostgreSQL for all HTTP reads of this process, in addition to the `connections` of `createPawl`.
   * Expensive reads therefore do not take connections from workers.
   * @default 4
   */
  readonly connections?: number | undefined;
  /**
   * Time limit of one statement of an HTTP read on PostgreSQL. A longer statement is cancelled, and the request fails
   * with 503 and the code `statement_timeout`.
   * @default "10s"
   */
  readonly statementTimeout?: Duration | undefined;
}

/** Settings of the HTTP server. */
export interface HttpConfig {
  /** The port; 0 for any free one. Defaults to 7295. */
  readonly port?: number | undefined;
  /** The address to listen on. Defaults to 127.0.0.1. Any other address needs a `token`. */
  readonly host?: string | undefined;
  /** A token with all rights; `/metrics` requires it as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  /** Limits per caller; false if a proxy limits requests. */
  readonly limits?: HttpLimits | false | undefined;
  /**
   * Origins from which the desk may load pictures, sound and video, as sources of a content security policy.
   * @default ["https:"]
   */
  readonly mediaSources?: readonly string[] | undefined;
}

/** The settings of `pawl.config.ts`. Flags and `PAWL_*` variables override them. */
export interface PawlConfig {
  /** Lifecycles and jobs: the return values of lifecycle() and job(). */
  readonly lifecycles: readonly AnyLifecycle[];
  /** Schedules: the return values of schedule(). */
  readonly schedules?: readonly AnySchedule[] | undefined;
  /** The outbox: `{ brokers: [rabbitmq({ … })] }`. */
  readonly outbox?: RelayOptions | undefined;
  /** Alert sinks: `webhookAlerts(…)`, `logAlerts(…)`, functions. */
  readonly alerts?: readonly AlertTarget[] | undefined;
  /** Dead letters: `{ queues: [deadLetterQueue({ … })], archive: folderArchive(…) }`. */
  readonly deadLetters?: DeadLetterOptions | undefined;
  /** Labeling queues: the return values of queue(). */
  readonly queues?: readonly AnyQueue[] | undefined;
  /** Crowds: the return values of crowd(). */
  readonly crowds?: readonly AnyCrowd[] | undefined;
  /** Marketplaces of the crowds, by name: `{ mturk: mturk({ … }) }`. */
  readonly marketplaces?: Marketplaces | undefined;
  /** Settings of the breakers, by name. */
  readonly breakers?: Readonly<Record<string, BreakerOptions>> | undefined;
  /** Thresholds after which waiting work is reported as stuck. */
  readonly stuckAfter?: StuckAfterOptions | undefined;
  /**
   * How long a call is retried when its reply was lost, or when the database takes no writes, as for `createPawl`.
   * @default "10s"
   */
  readonly outcomeTimeout?: Duration | undefined;
  /**
   * The HTTP server of the console, the API and callbacks, or `false`. `pawl start` serves on 127.0.0.1:7295 by
   * default; `pawl work` serves only if this is set.
   */
  readonly http?: HttpConfig | false | undefined;
  /**
   * PostgreSQL: a URL, options or a `pg.Pool`, as for `createPawl`. `PAWL_DATABASE_URL` and `DATABASE_URL` override it;
   * without any, the database is embedded.
   */
  readonly database?: DatabaseLocation | undefined;
  /** The folder of the embedded database, relative to the config file. Defaults to `.pawl`. */
  readonly folder?: string | undefined;
  /**
   * Runs when `pawl start` opens an embedded database without instances, to create example data. A database server is
   * never seeded, because several processes may share it.
   */
  readonly seed?: ((pawl: Pawl) => unknown) | undefined;
}

/**
 * The default export of `pawl.config.ts`.
 *
 * ```ts
 * import { defineConfig, lifecycle } from "pawl";
 *
 * const ticket = lifecycle("ticket", {
 *   initial: "open",
 *   states: { open: { forever: true, on: { solve: "solved" } }, solved: { final: "success" } },
 * });
 *
 * export default defineConfig({ lifecycles: [ticket] });
 * ```
 */
export function defineConfig(config: PawlConfig): PawlConfig {
  return config;
}
