import { builtInEvents, failed, type LifecycleModel, type StateModel } from "../../definition/model.ts";

/** Who sends the event of an exit: the engine on behalf of one of these, or a caller of the API. */
export type Mover = "worker" | "clock" | "children" | "people" | "caller";

/** One event that a state takes while an instance is in it, and where it leads. */
export interface Exit {
  readonly from: string;
  readonly event: string;
  readonly by: Mover;
  /** The states that it may lead to, in the order in which its edges are tried; the own name where it stays. */
  readonly to: readonly string[];
  /** Whether it leaves the state for certain: no guard can refuse it, and no edge of it stays. */
  readonly isCertain: boolean;
  /** Whether any of its edges leaves the state or enters it again. */
  readonly leaves: boolean;
  /** Whether every edge of it has a guard, so that it may be refused. */
  readonly isGuarded: boolean;
  /** The timeout that sends it, by its place in the list; undefined where no timeout does. */
  readonly timeout: number | undefined;
}

/** Every way in which an instance in this state can be moved, except by the built-in events of people. */
export function exitsOf(lifecycle: LifecycleModel, state: StateModel): Exit[] {
  if (state.final !== undefined) return [];
  const exits: Exit[] = [];
  const add = (event: string, by: Mover, timeout?: number) => {
    const exit = exitBy(lifecycle, state, event, by, timeout);
    if (exit !== undefined) exits.push(exit);
  };
  for (const [index, { send }] of state.timeouts.entries()) add(send, "clock", index);
  if (state.release !== undefined) add(state.release.send, "clock");
  if (state.kind === "work") for (const event of [...outcomesOf(lifecycle, state), "fail"]) add(event, "worker");
  if (state.kind === "join") {
    add("joined", "children");
    if (state.join?.failed === "fail") add("fail", "children");
  }
  if (state.kind === "ask") {
    add("answered", "people");
    add(lifecycle.edgesFrom(state.name, "unanswered").length > 0 ? "unanswered" : "fail", "people");
  }
  const known = new Set(exits.map(({ event }) => event));
  for (const event of callerEvents(lifecycle, state)) if (!known.has(event)) add(event, "caller");
  return exits;
}

/** The events of a state that are not built in. Where a step runs, those are its outcomes, which come first. */
function callerEvents(lifecycle: LifecycleModel, { name }: StateModel): string[] {
  return lifecycle.eventsFrom(name).filter((event) => !isBuiltIn(lifecycle, event));
}

/** The outcomes of a state's step: its own events, and not the common ones. */
function outcomesOf(lifecycle: LifecycleModel, { name }: StateModel): string[] {
  const open = [...lifecycle.states.values()].filter(({ final }) => final === undefined);
  const isEverywhere = (event: string) => open.every((state) => lifecycle.edgesFrom(state.name, event).length > 0);
  return lifecycle.eventsFrom(name).filter((event) => {
    return event !== "fail" && !isBuiltIn(lifecycle, event) && !(open.length > 1 && isEverywhere(event));
  });
}

export function isBuiltIn({ builtIns }: LifecycleModel, event: string): boolean {
  return event === "accept_late" || (builtIns && (builtInEvents as readonly string[]).includes(event));
}

function exitBy(
  lifecycle: LifecycleModel,
  { name }: StateModel,
  event: string,
  by: Mover,
  timeout: number | undefined,
): Exit | undefined {
  const edges = lifecycle.edgesFrom(name, event);
  const open = edges.findIndex(({ guard }) => guard === undefined);
  const tried = open < 0 ? edges : edges.slice(0, open + 1);
  if (tried.length === 0) return undefined;
  const isGuarded = open < 0;
  return {
    from: name,
    event,
    by,
    to: [...new Set(tried.map(({ to }) => to ?? name))],
    isCertain: !isGuarded && tried.every(({ to }) => to !== null),
    leaves: tried.some(({ to }) => to !== null),
    isGuarded,
    timeout,
  };
}

/** The states that an author declared, without `failed` and `discarded`. */
export function declaredStates(lifecycle: LifecycleModel): StateModel[] {
  return [...lifecycle.states.values()].filter(({ builtIn }) => !builtIn);
}

/** Whether an instance can move from this state into `failed`, where its failures are counted. */
export function canFailForGood(lifecycle: LifecycleModel, state: StateModel): boolean {
  if (!lifecycle.builtIns || state.final !== undefined) return false;
  if (lifecycle.deadline !== undefined) return true;
  const sends = exitsOf(lifecycle, state).filter(({ to }) => to.includes(failed));
  return sends.length > 0;
}
