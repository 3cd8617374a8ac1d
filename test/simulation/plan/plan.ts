import { type FaultPoint, faultPoints } from "../../../src/kernel/faults.ts";
import { Dice } from "../../../src/testing/dice.ts";
import type { StatementFault } from "../world/simulated-database.ts";

/** What a stage of a lifecycle is; each is one state, and leads on to the next stage. */
export type StageKind = "work" | "timed" | "callback" | "parked" | "join" | "ask" | "waiting";

/** What the step of a working stage does before it ends. */
export type StepPart =
  | "once"
  | "once for the instance"
  | "progress"
  | "publish"
  | "set"
  | "send"
  | "effect"
  | "breaker call";

export interface StagePlan {
  readonly name: string;
  readonly kind: StageKind;
  readonly parts: readonly StepPart[];
  /** Hooks of the edge that leaves it. */
  readonly hooks: readonly ("guard" | "set" | "before" | "after")[];
  readonly maxAttempts: number;
  readonly limit: number | undefined;
  readonly rate: boolean;
  readonly breaker: boolean;
  readonly priority: number;
  /** How many children its step starts, for a stage that joins them later. */
  readonly children: number;
  readonly join: "fail" | "count" | "wait";
  /** Minutes after which a timed stage goes on, or a callback is waited for in vain. */
  readonly minutes: number;
  readonly late: "fail" | "go on";
  /** How many are released at a time. */
  readonly atMost: number;
}

export interface LifecyclePlan {
  readonly name: string;
  readonly version: number;
  readonly stages: readonly StagePlan[];
  readonly deadlineHours: number | undefined;
  readonly late: "keep" | "reject" | "accept";
  readonly recovery: { readonly maxFailures: number; readonly scope: "restart" | "state" | "lifetime" } | undefined;
  readonly reset: boolean;
  readonly keepClosedDays: number | undefined;
  /** Lives as a child of others only. */
  readonly isChild: boolean;
}

/** How often user code misbehaves, each a probability. */
export interface Temper {
  readonly throws: number;
  readonly permanent: number;
  readonly giveUp: number;
  readonly later: number;
  readonly nonsense: number;
  readonly slow: number;
  /** Never returns until its signal is aborted. */
  readonly hangs: number;
  /** Ignores its signal for a long time. */
  readonly deaf: number;
  /** Hooks, guards and other functions of a definition that throw or return nonsense. */
  readonly hooks: number;
  /** Code that never works, not even when everything else does again. */
  readonly poison: number;
}

/** One thing that somebody does, or that goes wrong. `dice` makes every choice that it still needs. */
export type Act = { readonly dice: number } & (
  | {
      readonly kind: "start";
      readonly name: string;
      readonly count: number;
      readonly lifecycle: number;
      readonly inTransaction: boolean;
    }
  | {
      readonly kind: "send";
      readonly name: string;
      readonly with: "plain" | "key" | "tx" | "rollback" | "delay" | "together";
    }
  | { readonly kind: "built in"; readonly name: string; readonly event: "fail" | "recover" | "restart" | "discard" }
  | { readonly kind: "callback"; readonly name: string; readonly by: "name" | "token"; readonly isError: boolean }
  | { readonly kind: "label"; readonly labeler: string; readonly does: "submit" | "skip" | "hold" }
  | { readonly kind: "labeler"; readonly labeler: string; readonly active: boolean }
  | { readonly kind: "pause"; readonly lifecycle: number }
  | { readonly kind: "resume" }
  | { readonly kind: "breaker"; readonly force: "open" | "closed" | "release" }
  | { readonly kind: "dead letter"; readonly decide: "requeue" | "restart" | "discard" }
  | { readonly kind: "late result" }
  | { readonly kind: "run schedule" }
  | { readonly kind: "pass"; readonly seconds: number }
  | { readonly kind: "jump"; readonly minutes: number }
  | { readonly kind: "kill"; readonly process: number }
  | { readonly kind: "stop"; readonly process: number }
  | { readonly kind: "upgrade"; readonly process: number }
  | { readonly kind: "statement fault"; readonly process: number; readonly fault: StatementFault; readonly nth: number }
  | {
      readonly kind: "fault point";
      readonly process: number;
      readonly point: FaultPoint;
      readonly does: "kill" | "lose" | "wait";
      readonly nth: number;
    }
  | { readonly kind: "outage"; readonly seconds: number }
  | { readonly kind: "clock"; readonly minutes: number }
);

/** Everything that makes one run, as plain data: the same plan is the same run, and a part of it is a smaller one. */
export interface Plan {
  readonly seed: number;
  readonly processes: number;
  readonly temper: Temper;
  readonly lifecycles: readonly LifecyclePlan[];
  readonly acts: readonly Act[];
}

export const labelers = ["ada", "bob", "cyd"];

export interface PlanOptions {
  /** How many acts there are. */
  readonly acts?: number;
  readonly focus?: Focus;
}

/** What a plan has more of than dice would give it, for what is rare. */
export interface Focus {
  /** Holds for the second stage of every lifecycle that is no child. */
  readonly second?: Partial<Omit<StagePlan, "name">>;
  /** Holds for all stages. */
  readonly each?: Partial<Omit<StagePlan, "name" | "kind">>;
  readonly temper?: Partial<Temper>;
}

/** The plan of a seed. */
export function planOf(seed: number, { acts = 40, focus = {} }: PlanOptions = {}): Plan {
  const dice = new Dice(seed);
  const mood = dice.weighted("mood", { calm: 2, rough: 4, wild: 3 });
  const lifecycles = [
    ...Array.from({ length: dice.between("lifecycles", 2, 3) }, (_, at) =>
      lifecycleOf(dice.for(`lifecycle ${at}`), at),
    ),
    childOf(dice.for("child")),
  ].map((one) => focused(one, focus));
  const hasFaults = mood !== "calm";
  const processes = hasFaults ? dice.between("processes", 1, 3) : dice.between("processes", 1, 2);
  return {
    seed,
    processes,
    temper: { ...temperOf(mood), ...focus.temper },
    lifecycles,
    acts: actsOf(dice, acts, { lifecycles, processes, hasFaults }),
  };
}

/** Acts are about instances that earlier acts have started, most of the time. */
function actsOf(dice: Dice, length: number, around: Omit<Around, "started">): Act[] {
  const started = new Map<string, number>();
  return Array.from({ length }, (_, at) => {
    const act = actOf(dice.for(`act ${at}`), at, { ...around, started });
    if (act.kind === "start") {
      for (const name of namesOf(act)) if (!started.has(name)) started.set(name, act.lifecycle);
    }
    return act;
  });
}

/** What one act of starting starts. */
export function namesOf({ name, count }: Pick<Extract<Act, { kind: "start" }>, "name" | "count">): string[] {
  return ["", "b", "c"].slice(0, count).map((twin) => `${name}${twin}`);
}

function focused(plan: LifecyclePlan, { second, each }: Focus): LifecyclePlan {
  const stages = plan.stages.map((stage, at) => ({
    ...stage,
    ...each,
    ...(second !== undefined && at === 1 && !plan.isChild ? { parts: [], ...second } : {}),
  }));
  return { ...plan, stages };
}

function temperOf(mood: "calm" | "rough" | "wild"): Temper {
  const calm = {
    throws: 0.1,
    permanent: 0,
    giveUp: 0,
    later: 0.03,
    nonsense: 0,
    slow: 0.1,
    hangs: 0,
    deaf: 0,
    hooks: 0,
    poison: 0.02,
  };
  if (mood === "calm") return calm;
  if (mood === "rough")
    return {
      throws: 0.2,
      permanent: 0.05,
      giveUp: 0.03,
      later: 0.05,
      nonsense: 0.02,
      slow: 0.1,
      hangs: 0.03,
      deaf: 0.02,
      hooks: 0.05,
      poison: 0.06,
    };
  return {
    throws: 0.3,
    permanent: 0.08,
    giveUp: 0.06,
    later: 0.05,
    nonsense: 0.06,
    slow: 0.15,
    hangs: 0.06,
    deaf: 0.05,
    hooks: 0.15,
    poison: 0.1,
  };
}

function lifecycleOf(dice: Dice, at: number): LifecyclePlan {
  const stages: StagePlan[] = [stageOf(dice.for("stage 0"), 0, "work")];
  const length = dice.between("length", 2, 5);
  for (let place = 1; place < length; place++) {
    const kind = dice.weighted(`kind ${place}`, {
      // Each run has one lifecycle that soon does more than work.
      work: at === 0 && place === 1 ? 0 : 3,
      timed: 1.5,
      callback: 2,
      parked: 1.5,
      join: 2,
      ask: 2,
      waiting: 1.5,
    });
    stages.push(stageOf(dice.for(`stage ${place}`), place, kind));
  }
  return {
    name: `life${at}`,
    version: 1,
    stages,
    deadlineHours: dice.chance("deadline", 0.4) ? dice.between("deadline hours", 2, 72) : undefined,
    late: dice.pick("late", ["keep", "reject", "accept"]),
    recovery: dice.chance("recovery", 0.6)
      ? { maxFailures: dice.between("failures", 2, 4), scope: dice.pick("scope", ["restart", "state", "lifetime"]) }
      : undefined,
    reset: dice.chance("reset", 0.5),
    keepClosedDays: dice.chance("keep closed", 0.5) ? dice.between("days", 1, 20) : undefined,
    isChild: false,
  };
}

function childOf(dice: Dice): LifecyclePlan {
  const stages = [stageOf(dice.for("stage 0"), 0, "work")];
  if (dice.chance("longer", 0.6))
    stages.push(stageOf(dice.for("stage 1"), 1, dice.pick("kind", ["timed", "work", "parked", "ask"])));
  return {
    name: "child",
    version: 1,
    stages,
    deadlineHours: dice.chance("deadline", 0.3) ? dice.between("deadline hours", 2, 72) : undefined,
    late: "keep",
    recovery: dice.chance("recovery", 0.5) ? { maxFailures: 2, scope: "restart" } : undefined,
    reset: false,
    keepClosedDays: undefined,
    isChild: true,
  };
}

function stageOf(dice: Dice, place: number, kind: StageKind): StagePlan {
  const parts: readonly StepPart[] = [
    "once",
    "once for the instance",
    "progress",
    "publish",
    "set",
    "send",
    "effect",
    "breaker call",
  ];
  return {
    name: `s${place}`,
    kind,
    parts: kind === "work" ? parts.filter((part) => dice.chance(part, 0.35)) : [],
    hooks: (["guard", "set", "before", "after"] as const).filter((hook) =>
      dice.chance(hook, hook === "guard" ? 0.15 : 0.3),
    ),
    maxAttempts: dice.between("attempts", 1, 4),
    limit: dice.chance("limit", 0.2) ? dice.between("limit of", 1, 2) : undefined,
    rate: dice.chance("rate", 0.15),
    breaker: dice.chance("breaker", 0.2),
    priority: dice.pick("priority", [0, 0, 0, -1, 5]),
    children: dice.between("children", 1, 3),
    join: dice.pick("join", ["fail", "count", "wait"]),
    minutes: dice.between("minutes", 1, 600),
    late: dice.pick("late", ["fail", "go on"]),
    atMost: dice.between("at most", 1, 3),
  };
}

interface Around {
  readonly lifecycles: readonly LifecyclePlan[];
  readonly processes: number;
  readonly hasFaults: boolean;
  /** The lifecycle of each instance that earlier acts have started, by its name. */
  readonly started: ReadonlyMap<string, number>;
}

const faultWeights = {
  kill: 1.2,
  stop: 0.5,
  upgrade: 0.8,
  "statement fault": 3,
  "fault point": 3,
  outage: 0.7,
  clock: 0.4,
};

const actWeights = {
  start: 7,
  send: 6,
  "built in": 1.2,
  callback: 3,
  label: 4,
  labeler: 0.5,
  pause: 0.5,
  resume: 0.5,
  breaker: 0.6,
  "dead letter": 1.2,
  "late result": 0.8,
  "run schedule": 0.4,
  pass: 5,
  jump: 1.5,
};

function actOf(dice: Dice, at: number, { lifecycles, processes, hasFaults, started }: Around): Act {
  // The first ones begin something to talk about.
  const kind =
    at < 3 ? "start" : dice.weighted<Act["kind"]>("kind", hasFaults ? { ...actWeights, ...faultWeights } : actWeights);
  const own = dice.seed;
  const parents = lifecycles.filter((one) => !one.isChild).length;
  const anyName = `i${dice.between("name", 0, 9)}`;
  const of = (suits: (one: LifecyclePlan) => boolean) => {
    const known = [...started].filter(([, lifecycle]) => suits(lifecycles[lifecycle]!)).map(([known]) => known);
    return known.length === 0 || dice.chance("any name", 0.1) ? anyName : dice.pick("known name", known);
  };
  const process = dice.between("process", 0, processes - 1);
  switch (kind) {
    case "start":
      return {
        kind,
        dice: own,
        name: anyName,
        count: dice.between("count", 1, 3),
        lifecycle: dice.between("lifecycle", 0, parents - 1),
        inTransaction: dice.chance("tx", 0.3),
      };
    case "send":
      return {
        kind,
        dice: own,
        name: of(() => true),
        with: dice.pick("with", ["plain", "key", "tx", "rollback", "delay", "together"]),
      };
    case "built in":
      return {
        kind,
        dice: own,
        name: of(() => true),
        event: dice.pick("event", ["fail", "recover", "restart", "discard"]),
      };
    case "callback":
      return {
        kind,
        dice: own,
        name: of(({ stages }) => stages.some((one) => one.kind === "callback")),
        by: dice.pick("by", ["name", "token"]),
        isError: dice.chance("error", 0.2),
      };
    case "label":
      return {
        kind,
        dice: own,
        labeler: dice.pick("labeler", labelers),
        does: dice.weighted("does", { submit: 6, skip: 2, hold: 2 }),
      };
    case "labeler":
      return { kind, dice: own, labeler: dice.pick("labeler", labelers), active: dice.chance("active", 0.5) };
    case "pause":
      return { kind, dice: own, lifecycle: dice.between("lifecycle", 0, lifecycles.length - 1) };
    case "breaker":
      return { kind, dice: own, force: dice.pick("force", ["open", "closed", "release"]) };
    case "dead letter":
      return { kind, dice: own, decide: dice.pick("decide", ["requeue", "requeue", "restart", "discard"]) };
    case "pass":
      return { kind, dice: own, seconds: dice.pick("seconds", [1, 5, 10, 31, 45, 90]) };
    case "jump":
      return { kind, dice: own, minutes: dice.pick("minutes", [2, 10, 11, 60, 300, 1_500]) };
    case "kill":
    case "stop":
    case "upgrade":
      return { kind, dice: own, process };
    case "statement fault":
      return {
        kind,
        dice: own,
        process,
        fault: dice.pick("fault", ["lost request", "lost reply", "killed before", "killed after", "slow"]),
        nth: dice.between("nth", 1, 12),
      };
    case "fault point":
      return {
        kind,
        dice: own,
        process,
        point: dice.pick("point", faultPoints),
        does: dice.pick("does", ["kill", "lose", "wait"]),
        nth: dice.between("nth", 1, 3),
      };
    case "outage":
      return { kind, dice: own, seconds: dice.pick("seconds", [1, 8, 20, 70]) };
    case "clock":
      return { kind, dice: own, minutes: dice.pick("minutes", [1, 60, 240]) };
    default:
      return { kind, dice: own };
  }
}
