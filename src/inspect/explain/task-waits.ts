import { asSentence } from "../../base/text.ts";
import { shownTime } from "../../definition/decide/explain.ts";
import type { LastAttempt, TaskProgress, WaitingTask } from "../views/waits.ts";
import type { NotClaimed, TaskWait } from "./explanation.ts";

/** The known data of a task. */
interface KnownTask {
  /** Such as "Its step". */
  readonly name: string;
  readonly notClaimed: NotClaimed | undefined;
  readonly maxAttempts: number | null;
  readonly last: LastAttempt | null;
  readonly progress: TaskProgress | null;
}

/** A wait for a task, without what distinguishes a step from a recovery and an after-effect. */
export function waitForTask(task: WaitingTask, known: KnownTask): TaskWait {
  const { lane, worker } = task;
  const { maxAttempts, last } = known;
  const error = last === null ? null : errorOf(last);
  const attempt = worker === null ? task.attempt + 1 : task.attempt;
  const base = { since: new Date(task.since_ms), lane, attempt, maxAttempts, error };
  if (worker !== null) return runningTask(task, worker, known, base);
  return task.due_ms === null ? readyTask(known, base) : scheduledTask(new Date(task.due_ms), known, base);
}

type Base = Pick<TaskWait, "since" | "lane" | "attempt" | "maxAttempts" | "error">;

function readyTask({ name, last, notClaimed = { reason: "in_turn" } }: KnownTask, base: Base): TaskWait {
  const sentence = asSentence(`${name} is ready in lane \`${base.lane}\`: ${whyOf(notClaimed)}`);
  const until = "until" in notClaimed ? notClaimed.until : null;
  const isHeld = notClaimed.reason === "paused" || (notClaimed.reason === "breaker" && notClaimed.held);
  const by = isHeld ? "person" : "worker";
  return { ...base, until, by, sentence: `${sentence}${lastOf(last)}`, status: "ready", notClaimed };
}

function scheduledTask(until: Date, { name, last }: KnownTask, base: Base): TaskWait {
  const again = base.attempt > 1 ? " again" : "";
  const sentence = `${name} runs${again} at ${shownTime(until)}${attemptOf(base)}.${lastOf(last)}`;
  return { ...base, until, by: "clock", sentence, status: "scheduled" };
}

function runningTask(task: WaitingTask, worker: string, { name, progress }: KnownTask, base: Base): TaskWait {
  const leaseUntil = new Date(task.leased_until_ms!);
  const note = progress?.note == null ? "" : ` (${progress.note})`;
  const share = progress === null ? "" : ` Progress: ${Math.round(progress.fraction * 100)} %${note}.`;
  const sentence = `${name} has been running on worker \`${worker}\` since ${shownTime(base.since)}${attemptOf(base)}. Its lease ends at ${shownTime(leaseUntil)} unless the worker renews it.${share}`;
  return { ...base, until: leaseUntil, by: "worker", sentence, status: "running", worker, leaseUntil, progress };
}

function attemptOf({ attempt, maxAttempts }: Base): string {
  if (maxAttempts !== null) return ` (attempt ${attempt} of ${maxAttempts})`;
  return attempt > 1 ? ` (attempt ${attempt})` : "";
}

const waysToEnd = {
  failed: "it failed",
  lapsed: "its lease expired",
  released: "its worker stopped",
  deferred: "it was postponed",
};

/** The error of an attempt, or how it ended without one. */
function errorOf({ what, error, reason }: LastAttempt): string {
  if (error !== null) return `${error.name}: ${error.message}`;
  return reason === null ? waysToEnd[what] : `${waysToEnd[what]} (${reason.replaceAll("_", " ")})`;
}

const lastEnds = {
  failed: "The last attempt failed",
  lapsed: "The lease of the last attempt expired",
  released: "The worker of the last attempt stopped",
  deferred: "The last attempt was postponed",
};

function lastOf(last: LastAttempt | null): string {
  if (last === null) return "";
  const { what, error, reason } = last;
  if (error !== null) return asSentence(` ${lastEnds[what]}: ${error.name}: ${error.message}`);
  return ` ${lastEnds[what]}${reason === null ? "" : inBrackets(reason.replaceAll("_", " "))}.`;
}

/** A reason behind a clause. Those that people write end as they like. */
export function inBrackets(reason: string): string {
  return ` (${reason.replace(/[.\s]+$/, "")})`;
}

function ofKey(key: string | null | undefined): string {
  if (key === undefined) return "";
  return key === null ? " for tasks without a key" : ` for key "${key}"`;
}

/** Why a task was not claimed, to be put behind a colon. */
export function whyOf(notClaimed: NotClaimed): string {
  switch (notClaimed.reason) {
    case "paused": {
      const by = notClaimed.actor === null ? "" : ` by ${notClaimed.actor}`;
      return `the lane has been paused${by} since ${shownTime(notClaimed.since)}${inBrackets(notClaimed.why)}`;
    }
    case "breaker": {
      const { breaker, state, held, actor, until, why } = notClaimed;
      if (state === "half_open") return `breaker \`${breaker}\` is half-open, and only its probes run`;
      const how = held ? `held open${actor === null ? "" : ` by ${actor}`}` : "open";
      return `breaker \`${breaker}\` is ${how}${until === null ? "" : ` until ${shownTime(until)}`}${why === null ? "" : inBrackets(why)}`;
    }
    case "limit":
      return `the limit of ${notClaimed.limit} running at a time${ofKey(notClaimed.key)} is reached`;
    case "rate":
      return `the rate limit of ${notClaimed.rate}${ofKey(notClaimed.key)} is reached${notClaimed.until === null ? "" : ` until ${shownTime(notClaimed.until)}`}`;
    case "no_worker":
      return "no live worker serves this lane";
    case "worker_outdated":
      return `it needs version ${notClaimed.version} of the definition, and the newest live worker has version ${notClaimed.newest}`;
    default:
      return "live workers serve this lane, and one of them claims it when it has a free slot";
  }
}
