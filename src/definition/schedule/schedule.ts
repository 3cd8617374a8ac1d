import { type Duration, durationMs, formatDuration, parseDuration } from "../../base/duration.ts";
import type { AnyLifecycle, StartDataOf } from "../language/public-types.ts";
import { Faults, quotedValue } from "../read/fault.ts";
import {
  type Fields,
  outerNamePattern,
  readDuration,
  readFields,
  readFunction,
  readName,
  readOneOf,
  whole,
} from "../read/read.ts";
import { type Cron, parseCron } from "./cron.ts";

/** One moment of a schedule. */
export interface Tick {
  readonly schedule: string;
  /** The moment that it is for, as an ISO text; the same however late it is run. */
  readonly at: string;
}

type When =
  | {
      /** Minute, hour, day of the month, month, day of the week: `"30 3 * * *"`. */
      readonly cron: string;
      /**
       * The time zone of the fields, such as `"Europe/Berlin"`.
       * @default "UTC"
       */
      readonly timezone?: string;
      readonly interval?: undefined;
    }
  | { readonly interval: Duration; readonly cron?: undefined; readonly timezone?: undefined };

type StartData<L extends AnyLifecycle> = StartDataOf<L> | ((tick: Tick) => StartDataOf<L>);

export type ScheduleDefinition<L extends AnyLifecycle> = When & {
  /** The lifecycle or job that is started. */
  readonly start: L;
  /**
   * The key of the started instance or job.
   * @default one per tick, so that no tick starts two
   */
  readonly key?: (tick: Tick) => string;
  /**
   * The rule for ticks that were missed by more than a minute: run none of them (`skip`), the latest (`once`), or `all`.
   * @default "once"
   */
  readonly missed?: "skip" | "once" | "all";
} & (Record<string, never> extends StartDataOf<L>
    ? { readonly data?: StartData<NoInfer<L>> }
    : { readonly data: StartData<NoInfer<L>> });

/** Something that is started again and again. */
export interface Schedule<L extends AnyLifecycle = AnyLifecycle> {
  readonly kind: "schedule";
  readonly name: string;
  /** Either this or `everyMs`. */
  readonly cron: Cron | undefined;
  readonly everyMs: number | undefined;
  readonly timezone: string;
  readonly start: L;
  readonly data: (tick: Tick) => unknown;
  readonly key: (tick: Tick) => string;
  readonly missed: "skip" | "once" | "all";
}

export type AnySchedule = Schedule;

/** When a schedule is due: all that its ticks depend on. */
export type Timing = Pick<Schedule, "cron" | "everyMs" | "timezone">;

/** When it is due, in words: `30 3 * * * Europe/Berlin`, `every 10m`. The same words mean the same moments. */
export function timingText({ cron, everyMs, timezone }: Timing): string {
  return cron === undefined ? `every ${formatDuration(everyMs!)}` : `${cron.text} ${timezone}`;
}

/** The reverse of `timingText`; undefined if the text is invalid. */
export function readTiming(text: string): Timing | undefined {
  const every = /^every (\S+)$/.exec(text)?.[1];
  if (every !== undefined) {
    const everyMs = parseDuration(every);
    return typeof everyMs === "number" ? { cron: undefined, everyMs, timezone: "UTC" } : undefined;
  }
  const [, fields = "", timezone = ""] = /^(.+) (\S+)$/.exec(text) ?? [];
  const cron = parseCron(fields);
  return typeof cron === "string" || !isTimezone(timezone) ? undefined : { cron, everyMs: undefined, timezone };
}

const keys = ["cron", "interval", "timezone", "start", "data", "key", "missed"];

/**
 * Starts a lifecycle or a job at set times.
 *
 * ```ts
 * const nightly = schedule("nightly", { cron: "30 3 * * *", timezone: "Europe/Berlin", start: cleanUp });
 * ```
 */
export function schedule<L extends AnyLifecycle>(name: string, definition: ScheduleDefinition<L>): Schedule<L> {
  const faults = new Faults();
  readName(name, "name", faults, outerNamePattern);
  const fields = readFields(definition, keys, whole, faults) ?? {};
  const made: Schedule<L> = {
    kind: "schedule",
    name,
    ...readWhen(fields, faults),
    timezone: readTimezone(fields.timezone, faults),
    start: readStart(fields.start, faults) as L,
    data: typeof fields.data === "function" ? (fields.data as Schedule["data"]) : () => fields.data,
    key: readFunction(fields.key, "key", faults) ?? ((tick) => `${tick.schedule}@${tick.at}`),
    missed: readOneOf(fields.missed, ["skip", "once", "all"], "once", "missed", faults),
  };
  faults.throwIfAny(`schedule ${quotedValue(name)}`);
  return made;
}

const shortestMs = 1_000;

function readWhen(fields: Fields, faults: Faults): Pick<Schedule, "cron" | "everyMs"> {
  const { cron, interval } = fields;
  if ((cron === undefined) === (interval === undefined)) {
    const problem = cron === undefined ? "It has neither cron nor interval." : "It has both cron and interval.";
    faults.add("shape_invalid", whole, problem, 'Write either cron: "30 3 * * *" or interval: "10m".');
    return { cron: undefined, everyMs: undefined };
  }
  if (cron === undefined) {
    const everyMs = durationMs(readDuration(interval, shortestMs, "interval", faults), "interval");
    if (everyMs < shortestMs)
      faults.add("duration_invalid", "interval", `${quotedValue(interval)} is too often.`, "Write 1s or more.");
    if (fields.timezone !== undefined) {
      faults.add("key_idle", "timezone", "Only a cron expression has a time zone.", "Take it out.");
    }
    return { cron: undefined, everyMs };
  }
  const parsed = typeof cron === "string" ? parseCron(cron) : `It is ${quotedValue(cron)}.`;
  if (typeof parsed !== "string") return { cron: parsed, everyMs: undefined };
  faults.add("shape_invalid", "cron", parsed, 'Write five fields, such as "30 3 * * *".');
  return { cron: undefined, everyMs: undefined };
}

function readTimezone(value: unknown, faults: Faults): string {
  if (value === undefined) return "UTC";
  if (typeof value === "string" && isTimezone(value)) return value;
  const remedy = 'Write a name of the IANA list, such as "Europe/Berlin" or "UTC".';
  faults.add("shape_invalid", "timezone", `${quotedValue(value)} is not a time zone.`, remedy);
  return "UTC";
}

/** A name of the IANA list; an offset such as `+02:00` knows no summer time. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

function readStart(value: unknown, faults: Faults): unknown {
  if (typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "lifecycle") return value;
  faults.add(
    "shape_invalid",
    "start",
    `It is ${quotedValue(value)}.`,
    "Give the value that lifecycle() or job() made.",
  );
  return undefined;
}
