import type { LifecycleModel, StateModel } from "../../definition/model.ts";
import { declaredStates, type Exit, exitsOf } from "./exits.ts";
import type { Findings } from "./finding.ts";
import type { KnownTiming } from "./timings.ts";

/** Finds states that an instance may never leave. */
export function checkExits(
  lifecycle: LifecycleModel,
  known: { readonly deadline: KnownTiming | undefined; readonly timeouts: ReadonlyMap<string, readonly KnownTiming[]> },
  findings: Findings,
): void {
  // A deadline that every instance has ends every wait, if only as a failure.
  if (known.deadline !== undefined && !known.deadline.isOptional) return;
  for (const state of declaredStates(lifecycle)) {
    if (state.final !== undefined || state.kind === "work") continue;
    const exits = exitsOf(lifecycle, state);
    const timeouts = known.timeouts.get(state.name) ?? [];
    if (isLeftByItself(exits, timeouts)) continue;
    if (state.forever) checkCallers(state, exits, findings);
    else checkTimers(state, exits, timeouts, findings);
  }
}

/** Whether the clock moves an instance out of the state, whatever callers, children and people do. */
function isLeftByItself(exits: readonly Exit[], timeouts: readonly KnownTiming[]): boolean {
  return exits.some(({ by, isCertain, timeout }) => {
    return by === "clock" && isCertain && (timeout === undefined || timeouts[timeout]?.isOptional === false);
  });
}

/** An endless wait that is declared needs an event that no guard can refuse. */
function checkCallers({ name }: StateModel, exits: readonly Exit[], findings: Findings): void {
  const leaving = exits.filter(({ leaves }) => leaves);
  if (leaving.some(({ isGuarded }) => !isGuarded)) return;
  const events = leaving.map(({ event }) => `\`${event}\``).join(", ");
  findings.add(
    "exit_guarded",
    "warning",
    { state: name },
    `\`${name}\` waits without a timeout, and every event that leaves it (${events}) has a guard: an instance whose guards all refuse stays.`,
    "Add an event without a guard, or a `timeout`.",
  );
}

function checkTimers(
  state: StateModel,
  exits: readonly Exit[],
  timeouts: readonly KnownTiming[],
  findings: Findings,
): void {
  const { name } = state;
  for (const exit of exits.filter(({ by }) => by === "clock")) {
    const { event, timeout } = exit;
    const what = timeout === undefined ? "release" : "timeout";
    if (exit.isGuarded) {
      const then = timeout === undefined ? "the instance stays parked" : "the timeout does not fire again";
      findings.add(
        "exit_guarded",
        "error",
        { state: name, event },
        `The ${what} of \`${name}\` sends \`${event}\`, which a guard can refuse: then ${then}, and nothing else leaves the state by itself.`,
        `Add an edge of \`${event}\` without a guard as the last one, or a \`timeout\` that sends \`fail\`.`,
      );
    } else if (!exit.leaves) {
      findings.add(
        "timeout_stays",
        "error",
        { state: name, event },
        `The ${what} of \`${name}\` sends \`${event}\`, which does not leave the state, and nothing else leaves it by itself.`,
        "Add a later `timeout` whose event leads to another state.",
      );
    } else if (timeout !== undefined && timeouts[timeout]?.isOptional === true) {
      findings.add(
        "timeout_optional",
        "warning",
        { state: name, event },
        `The timeout of \`${name}\` is a function of the data that may return null: such an instance has no end of its wait.`,
        "Return a duration for all data, give the lifecycle a `deadline`, or pass examples as `data` to explore().",
      );
    }
  }
  checkOthers(state, findings);
}

/** Waits for children and for people, which have no end of their own. */
function checkOthers({ name, kind, join, timeouts }: StateModel, findings: Findings): void {
  if (timeouts.length > 0) return;
  if (kind === "join" && join?.failed === "wait") {
    findings.add(
      "wait_unbounded",
      "warning",
      { state: name },
      `\`${name}\` waits for its children, also for those that failed: one that stays failed keeps it there.`,
      'Add a `timeout`, or set `join: { failed: "fail" }` or `"count"`.',
    );
  } else if (kind === "ask") {
    findings.add(
      "wait_unbounded",
      "warning",
      { state: name },
      `\`${name}\` waits for an answer, and nothing ends the wait when none comes.`,
      "Add a `timeout`, or give the lifecycle a `deadline`.",
    );
  }
}
