import type { Command } from "commander";
import { durationMs } from "../../../base/duration.ts";
import { PawlError } from "../../../base/errors.ts";

/** The options that select dead letters. */
export interface FilterOptions {
  readonly lifecycle?: string;
  readonly kind?: string;
  readonly origin?: string;
  readonly because?: string;
  readonly fingerprint?: string;
  readonly since?: string;
  readonly until?: string;
  readonly all?: boolean;
}

export function addFilter(command: Command): Command {
  return command
    .option("--lifecycle <name>", "only those of this lifecycle")
    .option("--kind <kind>", "only this kind: instance, effect, message or broker")
    .option("--origin <name>", "only those that failed in this state, `after` function, message or queue")
    .option("--because <reason>", "only instances that failed for this reason")
    .option("--fingerprint <print>", "only those of this group; see `pawl dead --groups`")
    .option("--since <moment>", "only those since this time: 2026-01-31T12:00Z, or 2h for two hours ago")
    .option("--until <moment>", "only those before this time");
}

/** The same as arguments of a verb; `nowMs` is what "ago" is counted from. */
export function filterArgs(options: FilterOptions, ids: readonly string[], nowMs: number): Record<string, unknown> {
  const { lifecycle, kind, origin, because, fingerprint, since, until, all } = options;
  const args = {
    lifecycle,
    kind,
    origin,
    because,
    fingerprint,
    from: momentOf(since, nowMs),
    to: momentOf(until, nowMs),
    all,
    id: ids.length === 0 ? undefined : ids,
  };
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}

function momentOf(text: string | undefined, nowMs: number): string | undefined {
  if (text === undefined) return undefined;
  const isAgo = /^\d+(?:\.\d+)?(?:ms|s|m|h|d|w)$/.test(text);
  const moment = new Date(isAgo ? nowMs - durationMs(text as "1h", "moment") : text);
  if (!Number.isNaN(moment.getTime())) return moment.toISOString();
  throw new PawlError("option_invalid", `"${text}" is not a time. Write 2026-01-31T12:00Z, or 2h for two hours ago.`);
}
