import { type AnyLifecycle, job, lifecycle, queue, schedule } from "pawl";
import { z } from "zod";
import { type LifecyclePlan, labelers, type Plan } from "../plan/plan.ts";
import type { AnyStep } from "./any-step.ts";
import { type Context, canaryName } from "./names.ts";
import type { Parts } from "./parts.ts";
import { retryOf, stateOf } from "./stages.ts";
import type { UserCode } from "./user-code.ts";

/** What one process declares. */
export interface Declared {
  readonly lifecycles: readonly AnyLifecycle[];
  readonly queues: readonly ReturnType<typeof queue>[];
  readonly schedules: readonly ReturnType<typeof schedule>[];
}

/** Makes real lifecycles of a plan, with user code in every place where a user's function can stand. */
export function declare(plan: Plan, code: UserCode, newerBy: number): Declared {
  const opinions = queue("opinions", {
    label: z.object({ good: z.boolean() }),
    overlap: 2,
    labelers,
    maxAttemptsTotal: 6,
    agreement: { atLeast: 0.9, maxOverlap: 3 },
    reassignExpired: true,
    reassignSkipped: true,
    order: () => (code.isOdd("order") ? (code.odd("order") as number) : 1),
  });
  const built = new Map<string, AnyLifecycle>();
  const children = plan.lifecycles.find((one) => one.isChild);
  if (children !== undefined) built.set(children.name, build(children, { code, newerBy, opinions, built }));
  for (const one of plan.lifecycles)
    if (!one.isChild) built.set(one.name, build(one, { code, newerBy, opinions, built }));
  const canary = job(canaryName, { payload: z.object({ name: z.string() }), run: () => {} });
  const pulse = schedule("pulse", { start: canary, interval: "6h", data: ({ at }) => ({ name: `pulse ${at}` }) });
  return {
    lifecycles: [...built.values(), canary as AnyLifecycle],
    queues: [opinions as never],
    schedules: [pulse as never],
  };
}

const Value = z.object({ value: z.union([z.number(), z.null()]) });
const Data = z.object({
  name: z.string(),
  last: z.union([z.number(), z.null()]).optional(),
  notes: z.number().optional(),
  put: z.union([z.string(), z.null()]).optional(),
});

function build(plan: LifecyclePlan, parts: Parts): AnyLifecycle {
  const { code, newerBy } = parts;
  const names = [...plan.stages.map((stage) => stage.name), "done"];
  const states: Record<string, object> = {};
  for (const [at, stage] of plan.stages.entries()) states[stage.name] = stateOf(plan, at, names[at + 1]!, parts);
  const definition = {
    data: Data,
    events: {
      note: z.object({ mark: z.string() }),
      ...Object.fromEntries(plan.stages.flatMap(({ kind }, at) => (kind === "callback" ? [[`c${at}`, Value]] : []))),
    },
    version: plan.version + newerBy,
    initial: "s0",
    ...(plan.deadlineHours === undefined ? {} : { deadline: { within: `${plan.deadlineHours}h`, late: plan.late } }),
    ...(plan.recovery === undefined ? {} : { recovery: recoveryOf(plan, code) }),
    ...(plan.keepClosedDays === undefined ? {} : { retention: `${plan.keepClosedDays}d` }),
    ...(plan.isChild ? { onParentEnd: "cancel" } : {}),
    on: {
      note: {
        set: ({ data }: Context) => ({ notes: Number(data.notes ?? 0) + 1 }),
      },
      cancel: "cancelled",
    },
    states: { ...states, done: { final: "success" }, cancelled: { final: "failure" } },
  };
  return lifecycle(plan.name, definition as never) as AnyLifecycle;
}

function recoveryOf(plan: LifecyclePlan, code: UserCode): object {
  const { maxFailures, scope } = plan.recovery!;
  const later = plan.stages[1];
  if (!plan.reset || later === undefined) return { maxFailures, scope, after: "10m" };
  const run = async (step: AnyStep) => {
    const end = code.begin(step, {
      lifecycle: plan.name,
      state: "failed",
      kind: "reset",
      maxAttempts: later.maxAttempts,
    });
    code.around.used("reset", step.data.name);
    try {
      return await code.mishap(
        step,
        later,
        `${plan.name} reset ${step.idempotencyKey.slice(37)} ${step.data.name}`,
        () => undefined,
      );
    } finally {
      end();
    }
  };
  return { maxFailures, scope, after: "10m", reset: { before: later.name, run, retry: retryOf(later, code) } };
}
