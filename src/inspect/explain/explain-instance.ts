import { shownTime } from "../../definition/decide/explain.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import type { Explanation, NextAutomaticStep, NotClaimed, TaskWait, WaitingFor } from "./explanation.ts";
import { idleUntil } from "./idle.ts";
import { enteredAt, hasFailed, readKnown } from "./known-instance.ts";
import { stuckBy } from "./stuck-instance.ts";
import { waitsOf } from "./waits.ts";

/** Explains what an instance waits for, what happens next, and whether it is stuck. Changes nothing. */
export async function explainInstance(kernel: Kernel, row: InstanceRow): Promise<Explanation> {
  const known = await readKnown(kernel, row);
  const { state, waits, recovery } = known;
  const waitingFor = waitsOf(known);
  const next = row.outcome === null ? nextOf(waitingFor) : null;
  const stuck = stuckBy(known, waitingFor);
  const [first] = waitingFor;
  const isIdle = row.outcome === null && next === null && first !== undefined;
  const idle = isIdle ? `Nothing happens by itself until ${idleUntil(first)}.` : null;
  const since = enteredAt(known);
  const recoverySentences = recovery?.sentences ?? [];
  return {
    id: row.id,
    key: row.key,
    lifecycle: row.lifecycle,
    state,
    outcome: row.outcome,
    since,
    at: new Date(waits.now_ms),
    waitingFor,
    next,
    idle,
    stuck,
    recovery,
    sentences: [
      row.outcome === null
        ? `${nameOf(row)} has been in \`${state}\` since ${shownTime(since)}.`
        : `${nameOf(row)} ended in \`${state}\` at ${shownTime(since)}.`,
      ...(hasFailed(known) ? recoverySentences : []),
      ...waitingFor.map((wait) => wait.sentence),
      ...(next === null ? [] : [withTime(next)]),
      ...(idle === null || stuck !== null ? [] : [idle]),
      ...(stuck === null
        ? []
        : [`It has been stuck since ${shownTime(stuck.since)}: ${inside(stuck.sentence)} ${stuck.remedy}`]),
      ...(hasFailed(known) ? [] : recoverySentences),
    ],
  };
}

function nameOf({ lifecycle, key, id }: InstanceRow): string {
  return key === null ? `\`${lifecycle}\` ${id}` : `\`${lifecycle}\` "${key}"`;
}

/** The first of everything that happens without a person or an event from outside. */
function nextOf(waitingFor: readonly WaitingFor[]): NextAutomaticStep | null {
  const candidates = waitingFor.flatMap((wait) => {
    const at = momentOf(wait);
    return at === undefined ? [] : [{ at, wait }];
  });
  const [first] = candidates.sort((one, other) => (one.at?.getTime() ?? 0) - (other.at?.getTime() ?? 0));
  if (first === undefined) return null;
  const { at, wait } = first;
  const what = whatHappens(wait);
  return { kind: wait.kind, at, sentence: `${what[0]!.toUpperCase()}${what.slice(1)}.` };
}

function withTime({ at, sentence }: NextAutomaticStep): string {
  const when = at === null ? "Next" : `Next, at ${shownTime(at)}`;
  return `${when}: ${inside(sentence)}`;
}

/** A sentence, to be put behind a colon. */
function inside(sentence: string): string {
  return `${sentence[0]!.toLowerCase()}${sentence.slice(1)}`;
}

/** Live workers serve the lane, and what keeps them from the task ends when they are done with others. */
const freesItself: ReadonlySet<NotClaimed["reason"]> = new Set(["in_turn", "limit"]);

/** When a wait ends without a person or an event from outside; null for as soon as possible, undefined for never. */
function momentOf(wait: WaitingFor): Date | null | undefined {
  switch (wait.kind) {
    case "step":
    case "recovery":
    case "effect": {
      const isSoon = wait.status === "running" || (wait.status === "ready" && freesItself.has(wait.notClaimed.reason));
      return isSoon ? null : (wait.until ?? undefined);
    }
    case "question":
      return null;
    case "children":
      return wait.by === "clock" ? null : undefined;
    // The timer that ends them is listed itself.
    case "people":
    case "crowd_job":
    case "callback":
      return undefined;
    default:
      return wait.until ?? undefined;
  }
}

function whatHappens(wait: WaitingFor): string {
  switch (wait.kind) {
    case "step":
    case "recovery":
    case "effect":
      return whatHappensToTask(wait);
    case "events":
      return `the ${wait.end!.timer} sends \`${wait.end!.event}\``;
    case "timer":
      return `the ${wait.timer} sends \`${wait.event}\``;
    case "delayed_event":
      return `\`${wait.event}\` is delivered`;
    case "release":
      return wait.event === null ? "it is released" : `the release sends \`${wait.event}\``;
    case "question":
      return "maintenance creates its sample or crowd job";
    case "children":
      return "maintenance sends `joined`";
    case "result":
      return `result \`${wait.event}\` is processed`;
    default:
      return "the step runs again";
  }
}

function whatHappensToTask(wait: Extract<WaitingFor, TaskWait>): string {
  if (wait.status === "running") return "the worker reports the result";
  if (wait.status === "ready") {
    if (wait.notClaimed.reason === "limit") return "a worker claims the task when one of those that run ends";
    return wait.until === null ? "a worker claims the task" : "a worker may claim the task";
  }
  if (wait.kind === "effect") return "the after-effect runs";
  if (wait.kind === "step") return "the step runs";
  return wait.target === null ? "it recovers" : `it recovers in \`${wait.target}\``;
}
