import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type AlertTarget, sinksOf } from "../../alerts/sink.ts";
import { type Duration, durationMs } from "../../base/duration.ts";
import { broken, PawlError } from "../../base/errors.ts";
import { guardListener } from "../../base/guard.ts";
import { checkedOptions } from "../../base/options.ts";
import { lifecyclesOf } from "../../crowd/crowd-lifecycles.ts";
import type { Marketplaces } from "../../crowd/crowd-marketplaces.ts";
import { declaredQueuesAndCrowds } from "../../crowd/declared-queues.ts";
import { ownPeople } from "../../crowd/names.ts";
import { crowdQuestions } from "../../crowd/question-provider.ts";
import { type DeadLetterOptions, letterSettings } from "../../dead-letters/settings.ts";
import type { AnyCrowd } from "../../definition/crowd.ts";
import { internalPrefix, isInternal } from "../../definition/internal.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { AnyQueue } from "../../definition/queue.ts";
import type { AnySchedule } from "../../definition/schedule/schedule.ts";
import { readAll } from "../../inspect/gauges.ts";
import { stuckReporter } from "../../inspect/stuck/report-stuck.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Faults } from "../../kernel/faults.ts";
import { type Kernel, makeKernel } from "../../kernel/kernel.ts";
import { registerLifecycles } from "../../kernel/register.ts";
import { standardOutcomeTimeoutMs } from "../../kernel/retry-unknown-outcome.ts";
import { type StuckAfterOptions, stuckAfterOf } from "../../kernel/stuck-after.ts";
import { Verbs } from "../../kernel/verbs.ts";
import { type RelayOptions, relaySettings } from "../../outbox/settings.ts";
import {
  peopleCompanions,
  peopleDuties,
  peopleLifecycles,
  peopleQuestionProviders,
} from "../../people/lifecycle/lifecycles.ts";
import { openPeople } from "../../people/people.ts";
import { Postings } from "../../people/postings.ts";
import { type BreakerOptions, breakerPolicies } from "../../policy/breaker.ts";
import type { Db } from "../../store/port/db.ts";
import type { DatabaseLocation } from "../../store/port/location.ts";
import { migrate, pendingMigrations } from "../../store/port/migrate.ts";
import { isLog, type LogOption, logFailure } from "../../telemetry/log.ts";
import { makeTelemetry, type Telemetry } from "../../telemetry/telemetry.ts";
import { Pawl } from "../pawl.ts";

export interface PawlOptions {
  /**
   * PostgreSQL: a URL, which may name several hosts; options, for TLS or a password that expires; or a `pg.Pool`, with whose
   * settings Pawl opens its own connections. Without it, the database is embedded in `folder`.
   */
  readonly database?: DatabaseLocation | undefined;
  /** The folder of the embedded database, for one process at a time. Defaults to `./.pawl`. */
  readonly folder?: string;
  /** The lifecycles and jobs of this process. */
  readonly lifecycles: readonly AnyLifecycle[];
  /** Schedules. Processes that run maintenance start them. */
  readonly schedules?: readonly AnySchedule[] | undefined;
  /** Labeling queues; see `pawl.people`. */
  readonly queues?: readonly AnyQueue[] | undefined;
  /** Crowds; see `pawl.crowd`. */
  readonly crowds?: readonly AnyCrowd[] | undefined;
  /** Marketplaces of the crowds, by name: `{ mturk: mturk({ … }) }`. */
  readonly marketplaces?: Marketplaces | undefined;
  /** Settings of the breakers, by the name that states and steps use. */
  readonly breakers?: Readonly<Record<string, BreakerOptions>> | undefined;
  /** Apply pending migrations first; safe if many processes start at once. Defaults to true. */
  readonly migrate?: boolean;
  /** The maximum number of connections to PostgreSQL. Defaults to 10. */
  readonly connections?: number;
  /** The brokers of the outbox, for messages of steps and `pawl.publish`. */
  readonly outbox?: RelayOptions | undefined;
  /** Alert sinks: `webhookAlerts(…)`, `logAlerts(…)`, functions. */
  readonly alerts?: readonly AlertTarget[] | undefined;
  /** Dead letters: broker queues to read them from, retention, and archive. */
  readonly deadLetters?: DeadLetterOptions | undefined;
  /** Thresholds after which `explain`, `inspect.stuck` and alerts report waiting work as stuck. */
  readonly stuckAfter?: StuckAfterOptions | undefined;
  /**
   * How long a call is retried when its reply was lost, or when the database takes no writes: it looks for its outcome, and
   * repeats what was not written. Afterwards it fails with `outcome_unknown`, or with `database_unreachable` if nothing was
   * written. Set it longer than a failover takes so that calls outlast one. Workers and relays repeat what they write for as
   * long as an outage lasts.
   * @default "10s"
   */
  readonly outcomeTimeout?: Duration | undefined;
  /**
   * Wake workers and waiters of other processes with LISTEN and NOTIFY. Without it, work is found by polling, at the
   * latest after the worker's `pollInterval`. Defaults to true.
   */
  readonly notify?: boolean;
  /**
   * Called with warnings that stop nothing, such as a lost idle connection or limits of a pooler. Defaults to the log.
   */
  readonly onWarning?: (text: string) => void;
  /**
   * A pino logger (or a compatible one), options for pino, or `false`. Defaults to warnings and errors as JSON on
   * stderr.
   */
  readonly logger?: LogOption;
}

/**
 * Creates a Pawl: connects to the database, applies pending migrations, and registers the lifecycles.
 *
 * ```ts
 * const pawl = await createPawl({ database: process.env.DATABASE_URL, lifecycles: [essay] });
 * ```
 */
export async function createPawl(options: PawlOptions): Promise<Pawl> {
  checkOptions(options);
  refuseUnnamedDatabase(options);
  const telemetry = await makeTelemetry(options.logger);
  const onWarning = guardListener(options.onWarning ?? ((text: string) => telemetry.log.warn({}, text)), (error) =>
    logFailure(telemetry.log, error),
  );
  const db = await openDatabase({ ...options, onWarning });
  return (await openOn(db, options, { telemetry })).pawl;
}

interface OpenSeams {
  readonly clock?: Clock;
  readonly newId?: (() => string) | undefined;
  readonly faults?: Faults | undefined;
  readonly telemetry?: Telemetry;
  readonly hookLimitMs?: number;
  /** Whether maintenance raises alerts for stuck instances; false in tests that do it themselves. */
  readonly reportsStuck?: boolean;
}

/** An unset DATABASE_URL must not open an empty database where the real one is expected. */
function refuseUnnamedDatabase({ database, folder }: PawlOptions): void {
  if (process.env.NODE_ENV !== "production" || (database ?? "") !== "" || folder !== undefined) return;
  throw new PawlError(
    "option_invalid",
    "createPawl has no `database`, and NODE_ENV is production. Set `database` to a PostgreSQL URL, or set `folder` to use the embedded database.",
  );
}

/** Opens a Pawl on an open database; the test kit brings its own clock and faults. @internal */
export async function openOn(
  db: Db,
  options: Pick<
    PawlOptions,
    | "lifecycles"
    | "schedules"
    | "queues"
    | "crowds"
    | "marketplaces"
    | "breakers"
    | "migrate"
    | "logger"
    | "outbox"
    | "alerts"
    | "deadLetters"
    | "stuckAfter"
    | "outcomeTimeout"
    | "notify"
  >,
  seams: OpenSeams = {},
): Promise<{ pawl: Pawl; kernel: Kernel }> {
  let close = () => db.close();
  try {
    const telemetry = seams.telemetry ?? (await makeTelemetry(options.logger));
    await prepare(db, options.migrate ?? true);
    const { schedules, breakers, notify } = options;
    const declared = options.lifecycles as readonly LifecycleModel[];
    let postings: Postings | undefined;
    const { queues, families } = declaredQueuesAndCrowds(options, () => {
      postings ??= new Postings(kernel, new Verbs(kernel), queues);
      return postings;
    });
    const lifecycles = [...declared, ...peopleLifecycles, ...[...families.values()].flatMap(lifecyclesOf)];
    const questionProviders = { ...peopleQuestionProviders, crowd: crowdQuestions(families) };
    const { reportsStuck = true, ...rest } = seams;
    const chores = reportsStuck ? [...peopleDuties, stuckReporter()] : peopleDuties;
    const rooms = { companions: peopleCompanions, questionProviders, chores };
    const stuckAfter = stuckAfterOf(options.stuckAfter);
    const outcomeTimeoutMs = durationMs(options.outcomeTimeout ?? standardOutcomeTimeoutMs, "outcomeTimeout");
    const given = { db, lifecycles, schedules, breakers, notify, stuckAfter, outcomeTimeoutMs };
    const kernel = makeKernel({ ...given, ...rooms, ...rest, telemetry });
    await registerLifecycles(kernel, declared);
    const forget = telemetry.observe(() => readAll(kernel));
    close = async () => {
      forget();
      try {
        await kernel.notifier?.close();
      } finally {
        await db.close();
      }
    };
    const pawl = new Pawl(kernel, {
      queues,
      families: [...families.values()],
      close,
      outbox: options.outbox,
      alerts: sinksOf(options.alerts),
      letters: letterSettings(options.deadLetters),
    });
    await openPeople(pawl.people);
    const asked = [...families.values()].flatMap(lifecyclesOf);
    if (asked.length > 0) await registerLifecycles(kernel, asked);
    return { kernel, pawl };
  } catch (error) {
    await close().catch(() => {}); // The first error is more informative.
    throw error;
  }
}

function unopened(): never {
  throw broken("A marketplace was called before createPawl() returned.");
}

/** Returns the declarations of these options without a database; throws what `createPawl` would throw. @internal */
export function readDeclared(options: PawlOptions): { readonly crowds: readonly AnyCrowd[] } {
  checkOptions(options);
  return { crowds: [...declaredQueuesAndCrowds(options, unopened).families.keys()] };
}

async function prepare(db: Db, migrating: boolean): Promise<void> {
  if (migrating) {
    await migrate(db);
    return;
  }
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return;
  const names = pending.map((one) => one.name).join(", ");
  throw new PawlError(
    "not_migrated",
    `The database lacks ${pending.length} migrations (${names}). Run \`pawl migrate\`, or remove \`migrate: false\`.`,
  );
}

/** Opens the database that the options name. Drivers are loaded only when they are used. */
export async function openDatabase(
  options: Pick<PawlOptions, "database" | "folder" | "connections" | "onWarning" | "migrate">,
): Promise<Db> {
  const { database, onWarning } = options;
  if (database !== undefined && database !== "") {
    const { openPostgres } = await import("../../store/postgres/open.ts");
    const { targetOf } = await import("../../store/postgres/target.ts");
    return openPostgres({ target: targetOf(database), connections: options.connections, onWarning });
  }
  const folder = resolve(options.folder ?? ".pawl");
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new PawlError(
      "folder_unusable",
      `Could not create folder ${folder}: ${(error as Error).message}.`,
      { folder },
      { cause: error },
    );
  }
  const { openPglite } = await import("../../store/pglite/open.ts");
  const { shippedDatabase } = await import("../../store/pglite/new-database.ts");
  // The shipped database has its schema, which `migrate: false` must not install unasked.
  const snapshot = options.migrate === false ? undefined : shippedDatabase();
  return openPglite({ folder: join(folder, "db"), snapshot, onWarning });
}

const optionNames = [
  "database",
  "folder",
  "lifecycles",
  "schedules",
  "queues",
  "crowds",
  "marketplaces",
  "breakers",
  "migrate",
  "connections",
  "outbox",
  "alerts",
  "deadLetters",
  "stuckAfter",
  "outcomeTimeout",
  "notify",
  "onWarning",
  "logger",
] as const satisfies readonly (keyof PawlOptions)[];

function checkOptions(options: PawlOptions): void {
  const given: Partial<PawlOptions> = checkedOptions<Partial<PawlOptions>>(options, optionNames, "createPawl");
  if (!Array.isArray(given.lifecycles))
    throw new PawlError(
      "option_invalid",
      "createPawl needs `lifecycles`: a list of return values of lifecycle() and job().",
    );
  checkList(given.queues, "queue");
  checkCrowds(given.crowds, given.marketplaces);
  const names = new Set<string>();
  for (const one of given.lifecycles as readonly (Partial<LifecycleModel> | undefined)[]) {
    if (one?.kind !== "lifecycle")
      throw new PawlError("option_invalid", "`lifecycles` must list return values of lifecycle() and job().");
    if (isInternal(one.name!))
      throw new PawlError(
        "option_invalid",
        `Lifecycle \`${one.name}\` needs another name: names that begin with \`${internalPrefix}\` are reserved.`,
      );
    if (names.has(one.name!))
      throw new PawlError("option_invalid", `Two lifecycles have the name \`${one.name}\`. Names must be unique.`);
    names.add(one.name!);
  }
  declaredQueuesAndCrowds(options, unopened); // Refuses a crowd without its marketplace or queue.
  checkSchedules(given.schedules, given.lifecycles);
  checkLogger(given.logger);
  sinksOf(given.alerts);
  letterSettings(given.deadLetters);
  stuckAfterOf(given.stuckAfter);
  if (given.outcomeTimeout !== undefined) durationMs(given.outcomeTimeout, "outcomeTimeout");
  if (given.outbox !== undefined) relaySettings(given.outbox);
  breakerPolicies(given.breakers);
  const { database, folder, connections } = given;
  if (folder !== undefined && (typeof folder !== "string" || folder === "")) {
    throw new PawlError("option_invalid", "`folder` must be the path of a folder, for the embedded database.");
  }
  if (connections !== undefined && !(Number.isInteger(connections) && connections >= 1 && connections <= 1_000)) {
    throw new PawlError("option_invalid", "`connections` must be a whole number from 1 to 1,000.");
  }
  const isLocation = typeof database === "string" || (typeof database === "object" && database !== null);
  if (database !== undefined && !isLocation)
    throw new PawlError("option_invalid", "`database` must be a URL, connection options, or a `pg.Pool`.");
}

function checkSchedules(given: unknown, lifecycles: readonly AnyLifecycle[]): void {
  if (given === undefined) return;
  if (!Array.isArray(given)) {
    throw new PawlError("option_invalid", "`schedules` must be a list of return values of schedule().");
  }
  const names = new Set<string>();
  for (const one of given as readonly (Partial<AnySchedule> | undefined)[]) {
    if (one?.kind !== "schedule") {
      throw new PawlError("option_invalid", "`schedules` must list return values of schedule().");
    }
    if (names.has(one.name!))
      throw new PawlError("option_invalid", `Two schedules have the name \`${one.name}\`. Names must be unique.`);
    names.add(one.name!);
    if (!lifecycles.includes(one.start!)) {
      throw new PawlError(
        "option_invalid",
        `Schedule \`${one.name}\` starts \`${one.start!.name}\`, which is not in \`lifecycles\`. Add it there.`,
      );
    }
  }
}

function checkLogger(given: unknown): void {
  const isOptions = typeof given === "object" && given !== null && !("info" in given);
  if (given === undefined || given === false || isOptions || isLog(given)) return;
  throw new PawlError(
    "option_invalid",
    "`logger` must be a pino logger (or have debug, info, warn and error), options for pino, or false.",
  );
}

function checkCrowds(given: unknown, marketplaces: unknown): void {
  const isMap = typeof marketplaces === "object" && marketplaces !== null && !Array.isArray(marketplaces);
  if (marketplaces !== undefined && !isMap) {
    throw new PawlError("option_invalid", "`marketplaces` must be an object: { mturk: mturk({ … }) }.");
  }
  if (isMap && Object.hasOwn(marketplaces, ownPeople)) {
    throw new PawlError(
      "option_invalid",
      "`marketplaces` cannot have the name `people`: it is reserved for Pawl's own queues.",
    );
  }
  checkList(given, "crowd");
}

/** A list of queues, or of crowds, with unique names. */
function checkList(given: unknown, kind: "queue" | "crowd"): void {
  if (given === undefined) return;
  if (!Array.isArray(given) || !given.every((one: { kind?: unknown } | undefined) => one?.kind === kind)) {
    throw new PawlError("option_invalid", `\`${kind}s\` must be a list of return values of ${kind}().`);
  }
  const names = given.map((one: { name: string }) => one.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new PawlError("option_invalid", `Two ${kind}s have the name \`${twice}\`. Names must be unique.`);
}
