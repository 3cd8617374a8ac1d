import { shownTime } from "../../definition/decide/explain.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import type { Explanation, NextAutomaticStep, WaitingFor } from "./explanation.ts";
import { enteredAt, readKnown } from "./known-instance.ts";
import { stuckBy } from "./stuck-instance.ts";
import { waitsOf } from "./waits.ts";

/** Explains what an instance waits for, what happens next, and whether it is stuck. Changes nothing. */
export async function explainInstance(kernel: Kernel, row: InstanceRow): Promise<Explanation> {
  const known = await readKnown(kernel, row);
  const { state, waits, recovery } = known;
  const waitingFor = waitsOf(known);
  const next = row.outcome === null ? nextOf(waitingFor) : null;
  const stuck = stuckBy(known, waitingFor);
  const since = enteredAt(known);
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
    stuck,
    recovery,
    sentences: [
      `${nameOf(row)} ${row.outcome === null ? "is in" : "ended in"} \`${state}\` ${row.outcome === null ? "since" : "at"} ${shownTime(since)}.`,
      ...waitingFor.map((wait) => wait.sentence),
      ...(next === null ? [] : [next.sentence]),
      ...(stuck === null ? [] : [stuck.sentence]),
    ],
  };
}

function nameOf({ lifecycle, key, id }: InstanceRow): string {
  return key === null ? `\`${lifecycle}\` ${id}` : `\`${lifecycle}\` "${key}"`;
}

/** What comes first of all that happens by itself. */
function nextOf(waitingFor: readonly WaitingFor[]): NextAutomaticStep | null {
  const candidates = waitingFor.flatMap((wait) => {
    const at = momentOf(wait);
    return at === undefined ? [] : [{ kind: wait.kind, at, wait }];
  });
  const [first] = candidates.sort((one, other) => (one.at?.getTime() ?? 0) - (other.at?.getTime() ?? 0));
  if (first === undefined) return null;
  const { kind, at } = first;
  return {
    kind,
    at,
    sentence: at === null ? soon(first.wait) : `Next, at ${shownTime(at)}: ${whatHappens(first.wait)}.`,
  };
}

/** When a wait ends by itself; null for as soon as possible, undefined for not by itself. */
function momentOf(wait: WaitingFor): Date | null | undefined {
  if (wait.kind === "step" || wait.kind === "recovery" || wait.kind === "effect") {
    if (wait.status === "running") return null;
    if (wait.status === "ready" && wait.notClaimed.reason === "in_turn") return null;
  }
  if (wait.kind === "question") return null;
  if (wait.kind === "children" && wait.by === "clock") return null;
  return wait.until ?? undefined;
}

function soon(wait: WaitingFor): string {
  if (wait.kind === "question") return "Next: maintenance puts its question.";
  if (wait.kind === "children") return "Next: maintenance joins its children.";
  if ("status" in wait && wait.status === "running") return "Next: the worker reports how it ended.";
  return "Next: a worker claims it.";
}

function whatHappens(wait: WaitingFor): string {
  switch (wait.kind) {
    case "events":
      return `the ${wait.end!.timer} sends \`${wait.end!.event}\``;
    case "timer":
      return `the ${wait.timer} sends \`${wait.event}\``;
    case "delayed_event":
      return `\`${wait.event}\` is delivered`;
    case "release":
      return wait.event === null ? "it is released" : `its release sends \`${wait.event}\``;
    case "recovery":
      return wait.target === null ? "it recovers" : `it recovers in \`${wait.target}\``;
    case "effect":
      return "the after-effect runs";
    default:
      return "the step runs";
  }
}
