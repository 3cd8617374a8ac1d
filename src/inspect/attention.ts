import type { UndeliveredAlertsView } from "../alerts/views/alerts.ts";
import type { WorkerInfo } from "../kernel/tasks/workers.ts";
import type { OutboxLagView } from "../outbox/views/outbox.ts";
import type { ScheduleView } from "../schedules/views/schedules.ts";
import type { PauseRow } from "../store/tasks/pauses.ts";
import type { StuckGroup } from "./stuck/stuck-group.ts";
import type { WaitingView } from "./views/overview.ts";

/** A problem that a person should look into, in one sentence, with its place. */
export interface Need {
  readonly what:
    | "stuck"
    | "breakers"
    | "dead_letters"
    | "workers"
    | "lanes"
    | "schedules"
    | "outbox"
    | "alerts"
    | "waiting";
  readonly level: "bad" | "warn";
  readonly text: string;
  /** The page of the console with the details. */
  readonly page: string;
}

/** The data from which problems are found. */
export interface SystemStatus {
  /** The lane whose first tasks have waited longest. */
  readonly oldest: { readonly lane: string; readonly seconds: number } | undefined;
  readonly waiting: Pick<WaitingView, "dead_letters">;
  readonly outbox: Pick<OutboxLagView, "dead" | "oldest_age_ms">;
  readonly alerts: UndeliveredAlertsView;
  /** Those that are not closed. */
  readonly breakers: readonly { readonly name: string; readonly state: string }[];
  readonly workers: readonly Pick<WorkerInfo, "silent" | "stuck">[];
  readonly pauses: readonly Pick<PauseRow, "lifecycle" | "part" | "reason">[];
  readonly stuck: readonly Pick<StuckGroup, "reason" | "lifecycle" | "lane" | "queue" | "sentence">[];
  readonly schedules: readonly Pick<ScheduleView, "name" | "last_result" | "last_error">[];
}

/** A minute of waiting is nothing to write home about. */
const longSeconds = 60;

/** The problems that a person should look into, the worst first. */
export function attentionOf(standing: SystemStatus): Need[] {
  // Skips what a group already says.
  const { oldest } = standing;
  const isSaid = standing.stuck.some(({ lane }) => lane !== null && lane === oldest?.lane);
  const rest = isSaid ? { ...standing, oldest: undefined } : standing;
  return [...badOf(rest), ...warnOf(rest)];
}

/** What only time or more workers help against. */
const isWarning = ({ reason }: Pick<StuckGroup, "reason">): boolean =>
  reason === "ready_too_long" || reason === "running_too_long";

/** One sentence per group. Dead letters are counted in a line of their own. */
function stuckOf(groups: SystemStatus["stuck"], level: Need["level"]): Need[] {
  return groups
    .filter((group) => group.reason !== "dead_letter" && isWarning(group) === (level === "warn"))
    .map((group) => ({ what: "stuck", level, text: group.sentence, page: pageOf(group) }));
}

function pageOf({ reason, lifecycle, queue }: SystemStatus["stuck"][number]): string {
  if (queue !== null) return `/people/${encodeURIComponent(queue)}`;
  if (reason === "no_worker" || reason === "worker_outdated" || reason === "overdue") return "/workers";
  return `/lifecycles/${encodeURIComponent(lifecycle)}`;
}

function badOf({ breakers, waiting, workers, oldest, outbox, stuck }: SystemStatus): Need[] {
  const needs: Need[] = stuckOf(stuck, "bad");
  const bad = (what: Need["what"], text: string, page: string) => needs.push({ what, level: "bad", text, page });
  if (breakers.length > 0) {
    const names = breakers.map(({ name }) => name).join(", ");
    bad("breakers", `${many(breakers.length, "breaker is", "breakers are")} not closed: ${names}.`, "/breakers");
  }
  if (waiting.dead_letters > 0) {
    bad(
      "dead_letters",
      `${many(waiting.dead_letters, "dead letter awaits", "dead letters await")} a decision.`,
      "/dead",
    );
  }
  if (oldest !== undefined && !workers.some(({ silent }) => !silent)) {
    bad("workers", `Work waits in ${oldest.lane}, but no worker is running.`, "/workers");
  }
  if (outbox.dead > 0) bad("outbox", `${many(outbox.dead, "message is", "messages are")} dead.`, "/outbox");
  return needs;
}

function warnOf({ workers, pauses, schedules, oldest, outbox, alerts, stuck: groups }: SystemStatus): Need[] {
  const needs: Need[] = stuckOf(groups, "warn");
  const warn = (what: Need["what"], text: string, page: string) => needs.push({ what, level: "warn", text, page });
  const silent = workers.filter((worker) => worker.silent).length;
  if (silent > 0)
    warn("workers", `${many(silent, "worker has", "workers have")} stopped sending heartbeats.`, "/workers");
  const stuck = workers.reduce((sum, worker) => sum + (worker.silent ? 0 : worker.stuck), 0);
  if (stuck > 0) {
    const text = `${many(stuck, "step ignores its", "steps ignore their")} aborted signal: restart the process, and pass \`step.signal\` on.`;
    warn("workers", text, "/workers");
  }
  for (const { lifecycle, part, reason } of pauses) {
    warn("lanes", `${lifecycle}${part} is paused: ${reason}`, `/lifecycles/${encodeURIComponent(lifecycle)}`);
  }
  for (const { name, last_result, last_error } of schedules) {
    if (last_result !== "failed") continue;
    warn("schedules", `The last run of ${name} failed${last_error === null ? "." : `: ${last_error}`}`, "/schedules");
  }
  if (oldest !== undefined && oldest.seconds > longSeconds && workers.some((worker) => !worker.silent)) {
    warn("waiting", `Work in ${oldest.lane} has been ready for ${minutes(oldest.seconds)}.`, "/workers");
  }
  if ((outbox.oldest_age_ms ?? 0) > longSeconds * 1_000) {
    warn("outbox", `The oldest message has waited ${minutes(outbox.oldest_age_ms! / 1_000)} to be sent.`, "/outbox");
  }
  if ((alerts.oldest_age_ms ?? 0) > longSeconds * 1_000) {
    const text = `Alerts cannot be delivered; the oldest has waited ${minutes(alerts.oldest_age_ms! / 1_000)}: ${alerts.error}`;
    warn("alerts", text, "/");
  }
  return needs;
}

function many(count: number, one: string, several: string): string {
  return count === 1 ? `1 ${one}` : `${count.toLocaleString("en")} ${several}`;
}

function minutes(seconds: number): string {
  const whole = Math.floor(seconds / 60);
  return whole < 120 ? many(whole, "minute", "minutes") : many(Math.floor(whole / 60), "hour", "hours");
}
