import type { NotClaimed, TaskWait, WaitingFor } from "./explanation.ts";

/** What has to happen before an instance with this wait moves, if nothing happens by itself; follows "until". */
export function idleUntil(wait: WaitingFor): string {
  switch (wait.kind) {
    case "step":
    case "recovery":
    case "effect":
      return idleTask(wait);
    case "events":
      return wait.events.length === 1 ? `it receives \`${wait.events[0]}\`` : "it receives one of these events";
    case "release":
      return "a person requeues its dead letter or sends another event";
    case "children":
      if (wait.open === 0) return "a person acts";
      return wait.open === 1 ? "its child ends" : "its children end";
    case "people":
      return wait.given < wait.wanted ? "labelers submit the labels" : "a person acts";
    case "crowd_job":
      return "the crowd job ends";
    case "callback":
      return "the result arrives";
    case "result":
      return wait.reachable
        ? "it enters a state that accepts the result"
        : "a person accepts the result or sends an event";
    case "person":
      return wait.deadLetter === null
        ? "a person sends an event"
        : "a person decides about its dead letter or sends an event";
    case "definition_fault":
      return "a definition that allows what the step does is deployed";
    case "newer_definition":
      return `a process with version ${wait.definition} or newer runs`;
    case "undeclared_state":
      return "a process whose definition has its state runs";
    default:
      return "maintenance runs";
  }
}

function idleTask(task: TaskWait): string {
  return task.status === "ready" ? idleLane(task.notClaimed, task.lane) : "a worker reports the result";
}

function idleLane(notClaimed: NotClaimed, lane: string): string {
  switch (notClaimed.reason) {
    case "paused":
      return `lane \`${lane}\` is resumed`;
    case "breaker":
      return notClaimed.held
        ? `breaker \`${notClaimed.breaker}\` is released or held closed`
        : `a probe closes breaker \`${notClaimed.breaker}\``;
    case "no_worker":
      return `a worker that serves lane \`${lane}\` starts`;
    case "worker_outdated":
      return `a worker with version ${notClaimed.version} starts`;
    default:
      return "a worker claims the task";
  }
}
