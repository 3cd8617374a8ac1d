import { ended, shownTime } from "../../definition/decide/explain.ts";
import type { LastAttempt, WaitingTask, WaitsRow } from "../../views/waits.ts";
import type { NotClaimed, WaitEndedBy } from "./explanation.ts";

/** A wait for a task, without what tells a step from a recovery and an after-effect. */
export type TaskWait = {
  readonly since: Date;
  readonly until: Date | null;
  readonly by: WaitEndedBy;
  readonly sentence: string;
  readonly lane: string;
  readonly attempt: number;
} & (
  | { readonly status: "ready"; readonly notClaimed: NotClaimed }
  | { readonly status: "scheduled"; readonly maxAttempts: number | null; readonly error: string | null }
  | {
      readonly status: "running";
      readonly worker: string;
      readonly leaseUntil: Date;
      readonly progress: WaitsRow["progress"];
    }
);

/** What is known of a task. */
interface KnownTask {
  /** Such as "Its step". */
  readonly name: string;
  readonly notClaimed: NotClaimed | undefined;
  readonly maxAttempts: number | null;
  readonly last: LastAttempt | null;
  readonly progress: WaitsRow["progress"];
}

export function waitForTask(task: WaitingTask, known: KnownTask): TaskWait {
  const since = new Date(task.since_ms);
  if (task.worker !== null) return runningTask(task, task.worker, known, since);
  const attempt = task.attempt + 1;
  const { lane } = task;
  if (task.due_ms !== null) {
    const until = new Date(task.due_ms);
    const { maxAttempts } = known;
    const error = known.last === null ? null : whatOf(known.last);
    const of = maxAttempts === null ? "" : ` of ${maxAttempts}`;
    const because = error === null ? "" : `. The attempt before: ${error}`;
    const sentence = ended(`${known.name} runs at ${shownTime(until)} (attempt ${attempt}${of})${because}`);
    return { since, until, by: "clock", sentence, lane, attempt, status: "scheduled", maxAttempts, error };
  }
  const notClaimed = known.notClaimed ?? { reason: "in_turn" };
  const sentence = ended(`${known.name} is ready in \`${lane}\` since ${shownTime(since)}: ${whyOf(notClaimed)}`);
  const until = "until" in notClaimed ? notClaimed.until : null;
  const by = notClaimed.reason === "paused" ? "person" : "worker";
  return { since, until, by, sentence, lane, attempt, status: "ready", notClaimed };
}

function runningTask(task: WaitingTask, worker: string, { name, progress }: KnownTask, since: Date): TaskWait {
  const { lane, attempt } = task;
  const leaseUntil = new Date(task.leased_until_ms!);
  const note = progress?.note == null ? "" : `: ${progress.note}`;
  const share = progress === null ? "" : ` It is at ${Math.round(progress.fraction * 100)} %${note}.`;
  const sentence = `${name} runs since ${shownTime(since)} (attempt ${attempt}, worker ${worker}); its lease ends at ${shownTime(leaseUntil)} unless it is renewed.${share}`;
  const by = "worker";
  return { since, until: leaseUntil, by, sentence, lane, attempt, status: "running", worker, leaseUntil, progress };
}

const waysToEnd = { failed: "failed", lapsed: "its lease expired", released: "was released", deferred: "was put off" };

function whatOf({ what, error, reason }: LastAttempt): string {
  if (error !== null) return `${error.name}: ${error.message}`;
  return reason === null ? waysToEnd[what] : `${waysToEnd[what]} (${reason.replaceAll("_", " ")})`;
}

/** Why a task was not claimed, to be put behind a colon. */
export function whyOf(notClaimed: NotClaimed): string {
  switch (notClaimed.reason) {
    case "paused": {
      const by = notClaimed.actor === null ? "" : ` by ${notClaimed.actor}`;
      return `the lane was paused${by} at ${shownTime(notClaimed.since)}: ${notClaimed.why}`;
    }
    case "breaker": {
      const until = notClaimed.until === null ? "" : ` until ${shownTime(notClaimed.until)}`;
      return `breaker \`${notClaimed.breaker}\` is not closed${until}: ${notClaimed.why}`;
    }
    case "limit":
      return `as many steps run as its limit of ${notClaimed.limit} allows`;
    case "rate": {
      const until = notClaimed.until === null ? "" : `; the next one may begin at ${shownTime(notClaimed.until)}`;
      return `its rate of ${notClaimed.rate} is used up${until}`;
    }
    case "no_worker":
      return "no live worker serves this lane";
    case "worker_outdated":
      return `it needs version ${notClaimed.version} of the definition, and live workers have version ${notClaimed.newest}`;
    default:
      return "workers serve this lane, and its turn comes";
  }
}
