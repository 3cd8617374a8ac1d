import { dateOf } from "../../base/moment.ts";
import { readLane } from "../../definition/model.ts";
import { standardRetry } from "../../policy/retry.ts";
import type { LastAttempt, WaitingTask } from "../views/waits.ts";
import { callbackWaits, resultWaits } from "./callback-waits.ts";
import type { WaitingFor } from "./explanation.ts";
import { enteredAt, hasFailed, type KnownInstance } from "./known-instance.ts";
import { crowdJobWait, personWaits, questionWait, sampleWait } from "./person-waits.ts";
import { childrenWait, eventsWait, releaseWait } from "./state-waits.ts";
import { waitForTask } from "./task-waits.ts";
import { timerWaits } from "./timer-waits.ts";

/** Everything that an instance waits for. What decides its next move is first. */
export function waitsOf(known: KnownInstance): WaitingFor[] {
  const isOpen = known.row.outcome === null;
  return [
    ...(isOpen ? [...otherDefinition(known), ...step(known), ...ofState(known)] : []),
    ...personWaits(known),
    ...(isOpen ? [...callbackWaits(known), ...resultWaits(known), ...timerWaits(known)] : []),
    ...effects(known),
  ];
}

function ofState(known: KnownInstance): WaitingFor[] {
  switch (known.kind) {
    case "wait":
      return hasFailed(known) ? [] : [...sampleWait(known), ...eventsWait(known)];
    case "park":
      return [releaseWait(known)];
    case "join":
      return [childrenWait(known)];
    case "ask":
      return known.waits.question === null ? [questionWait(known)] : [...sampleWait(known), ...crowdJobWait(known)];
    default:
      return [];
  }
}

/** What only a process with another definition can move. */
function otherDefinition(known: KnownInstance): WaitingFor[] {
  const { kernel, row, lifecycle, isAbandoned } = known;
  if (lifecycle !== undefined) return [];
  const process = kernel.lifecycles.get(row.lifecycle)?.version ?? 0;
  const base = { since: enteredAt(known), until: null, by: "worker" } as const;
  if (isAbandoned !== undefined) {
    const sentence = `Version ${process} of \`${row.lifecycle}\` in this process has no state \`${row.state}\`. Only processes whose definition has it move it.`;
    return [{ kind: "undeclared_state", process, ...base, sentence }];
  }
  const { definition } = row;
  const sentence =
    process === 0
      ? `This process does not declare \`${row.lifecycle}\`. Only processes that declare version ${definition} or newer move it.`
      : `Version ${definition} of \`${row.lifecycle}\` moved it last, but this process has version ${process}. Only processes with version ${definition} or newer move it.`;
  return [{ kind: "newer_definition", definition, process, ...base, sentence }];
}

function step(known: KnownInstance): WaitingFor[] {
  const { waits, model, lifecycle, recovery } = known;
  const task = waits.step;
  if (task === null) return [];
  const { progress } = waits;
  const last = lastOf(task, waits.last_attempt);
  const notClaimed = known.notClaimed.get(task.lane);
  if (hasFailed(known)) {
    const wait = waitForTask(task, { name: "Its recovery", notClaimed, maxAttempts: null, last, progress });
    const target = recovery?.retry?.kind === "planned" ? recovery.retry.moves.at(-1)!.to : null;
    return [{ kind: "recovery", target, ...wait }];
  }
  if (last?.reason === "definition" && task.worker === null) return [definitionFault(task, known)];
  const maxAttempts = lifecycle === undefined ? null : (model?.retry ?? standardRetry).maxAttempts;
  const name = lifecycle?.job === true ? "The job" : "Its step";
  return [{ kind: "step", ...waitForTask(task, { name, notClaimed, maxAttempts, last, progress }) }];
}

/** An attempt that ended at the very moment at which the state was entered may be of the state before. */
function lastOf(task: WaitingTask, last: LastAttempt | null): LastAttempt | null {
  const isOfState = last?.lane == null || readLane(last.lane)?.part === readLane(task.lane)?.part;
  return isOfState ? last : null;
}

function definitionFault(task: WaitingTask, { waits }: KnownInstance): WaitingFor {
  const last = waits.last_attempt!;
  const error = last.error?.message ?? "unknown";
  return {
    kind: "definition_fault",
    lane: task.lane,
    error,
    since: new Date(last.at_ms),
    until: dateOf(task.due_ms),
    by: "person",
    sentence: `Its step and its definition contradict each other: ${error}`,
  };
}

function effects(known: KnownInstance): WaitingFor[] {
  return known.waits.effects.map((task) => {
    const name = task.event === null ? "A delivery to other instances" : `The after-effect of \`${task.event}\``;
    const notClaimed = known.notClaimed.get(task.lane);
    const { maxAttempts } = standardRetry;
    return {
      kind: "effect",
      event: task.event,
      ...waitForTask(task, { name, notClaimed, maxAttempts, last: task.last_attempt, progress: task.progress }),
    };
  });
}
