import type { AlertTarget } from "../../alerts/sink.ts";
import type { Duration } from "../../base/duration.ts";
import type { Marketplaces } from "../../crowd/families.ts";
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

/** How much one caller may ask for, so that nobody keeps the workers and the other callers from their turn. */
export interface HttpLimits {
  /**
   * Requests a second of one token, session or user. Five times as many may come at once.
   * @default 200
   */
  readonly requestsPerSecond?: number | undefined;
  /**
   * Requests of one token, session or user that are served at the same time. Eight times as many wait for their turn.
   * @default 6
   */
  readonly concurrency?: number | undefined;
  /**
   * Live streams of one token, session or user.
   * @default 20
   */
  readonly streams?: number | undefined;
  /**
   * Failed sign-ins and unknown tokens a minute from one address.
   * @default 30
   */
  readonly failedSignInsPerMinute?: number | undefined;
  /**
   * Connections from one address. Behind a reverse proxy every connection comes from the proxy.
   * @default 250
   */
  readonly connectionsPerAddress?: number | undefined;
  /**
   * Connections to PostgreSQL that all reads over HTTP share in this process, in addition to the `connections` of
   * `createPawl`: expensive reads leave those of the workers alone.
   * @default 4
   */
  readonly connections?: number | undefined;
  /**
   * How long one statement of a read over HTTP may take on PostgreSQL. One that takes longer is cancelled, and the request is
   * answered with 503 and the code `statement_timeout`.
   * @default "10s"
   */
  readonly statementTimeout?: Duration | undefined;
}

/** Where Pawl answers over HTTP. */
export interface HttpConfig {
  /** 7295 unless given; 0 for any that is free. */
  readonly port?: number | undefined;
  /** This machine only unless given. Another address needs a `token`. */
  readonly host?: string | undefined;
  /** A token that may do everything, and what `/metrics` asks for, as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  /** How much one caller may ask for; false where something in front of it sees to that. */
  readonly limits?: HttpLimits | false | undefined;
  /**
   * Where the desk may load pictures, sound and video from, as sources of a content security policy.
   * @default ["https:"]
   */
  readonly mediaSources?: readonly string[] | undefined;
}

/** What `pawl.config.ts` says. Flags and `PAWL_*` variables come before it, defaults after it. */
export interface PawlConfig {
  /** Everything that the `pawl` command works with: what lifecycle() and job() return. */
  readonly lifecycles: readonly AnyLifecycle[];
  /** What is started at set times: what schedule() returns. */
  readonly schedules?: readonly AnySchedule[] | undefined;
  /** Where messages go that are put into the outbox: `{ brokers: [rabbitmq({ … })] }`. */
  readonly outbox?: RelayOptions | undefined;
  /** Who is told when an instance is given up: `webhookAlerts(…)`, `logAlerts(…)`, functions. */
  readonly alerts?: readonly AlertTarget[] | undefined;
  /** What becomes of dead letters: `{ queues: [deadLetterQueue({ … })], archive: folderArchive(…) }`. */
  readonly deadLetters?: DeadLetterOptions | undefined;
  /** The queues in which people label: what queue() returns. */
  readonly queues?: readonly AnyQueue[] | undefined;
  /** The crowds that are asked on marketplaces: what crowd() returns. */
  readonly crowds?: readonly AnyCrowd[] | undefined;
  /** Where crowds are asked, by the names that they give: `{ mturk: mturk({ … }) }`. */
  readonly marketplaces?: Marketplaces | undefined;
  /** How the breakers of outside dependencies behave, by name. */
  readonly breakers?: Readonly<Record<string, BreakerOptions>> | undefined;
  /** How long something may wait before it is reported as stuck. */
  readonly stuckAfter?: StuckAfterOptions | undefined;
  /**
   * Where the console, the API and callbacks are. `pawl start` serves them at port 7295 of this machine unless told
   * otherwise, or `false`; `pawl work` serves them only if this is given.
   */
  readonly http?: HttpConfig | false | undefined;
  /**
   * PostgreSQL: a URL, options or a `pg.Pool`, as for `createPawl`. `PAWL_DATABASE_URL` and `DATABASE_URL` come before it;
   * without any, the database is embedded.
   */
  readonly database?: DatabaseLocation | undefined;
  /** Where the embedded database lives, seen from the config file; `.pawl` beside it unless given. */
  readonly folder?: string | undefined;
  /**
   * Runs when `pawl start` finds its embedded database without any instance: something to see in a fresh checkout. A
   * database server is never seeded, since several processes may meet on it.
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
