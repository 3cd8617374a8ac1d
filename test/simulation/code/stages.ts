import { standardRetry } from "../../../src/policy/retry.ts";
import type { LifecyclePlan, StageKind, StagePlan } from "../plan/plan.ts";
import type { AnyStep } from "./any-step.ts";
import { breakerName, type Context, hooksTable, ratePerMinute } from "./names.ts";
import type { Parts } from "./parts.ts";
import { runOf } from "./steps.ts";
import type { UserCode } from "./user-code.ts";

interface Place {
  readonly plan: LifecyclePlan;
  readonly stage: StagePlan;
  readonly at: number;
  /** The event that leads on, and its edge. */
  readonly go: string;
  readonly edge: object;
  readonly checkpoint: object;
  readonly parts: Parts;
}

/** The state that a stage of a plan is. */
export function stateOf(plan: LifecyclePlan, at: number, next: string, parts: Parts): object {
  const stage = plan.stages[at]!;
  const edge = edgeOf(plan, stage, next, parts.code);
  const checkpoint = plan.recovery === undefined || at === 0 ? {} : { checkpoint: lastWork(plan, at) };
  return kinds[stage.kind]({ plan, stage, at, go: `e${at}`, edge, checkpoint, parts });
}

const kinds: Readonly<Record<StageKind, (place: Place) => object>> = {
  work: ({ plan, stage, at, go, edge, parts }) => ({
    run: runOf(plan, stage, at, parts),
    retry: retryOf(stage, parts.code),
    on: { [go]: edge },
    priority: stage.priority,
    ...(stage.limit === undefined ? {} : { limit: stage.limit }),
    ...(stage.rate ? { rate: `${ratePerMinute}/m` } : {}),
    ...(stage.breaker ? { uses: breakerName } : {}),
  }),
  timed: ({ plan, stage, go, edge, checkpoint, parts: { code } }) => {
    const site = `${plan.name} ${stage.name} after`;
    const after = () => (code.isOdd(site) ? code.odd(site) : `${stage.minutes}m`);
    return { timeout: { after, send: go }, on: { [go]: edge }, ...checkpoint };
  },
  callback: ({ stage, at, go, edge, checkpoint }) => ({
    on: { [`c${at}`]: edge, [go]: edge },
    timeout: { after: `${stage.minutes}m`, send: stage.late === "fail" ? "fail" : go },
    ...checkpoint,
  }),
  parked: ({ stage, go, edge }) => ({ release: { interval: "1m", limit: stage.atMost, send: go }, on: { [go]: edge } }),
  join: ({ stage, edge }) => ({ join: { failed: stage.join }, on: { joined: edge } }),
  ask: ({ plan, stage, edge, parts: { code, opinions } }) => {
    const site = `${plan.name} ${stage.name} sample`;
    const sample = ({ data }: Context) => (code.isOdd(site, data.name) ? code.odd(site) : { text: String(data.name) });
    return { ask: { queue: opinions, sample }, on: { answered: edge, unanswered: edge } };
  },
  waiting: ({ go, edge, checkpoint }) => ({ forever: true, on: { [go]: edge }, ...checkpoint }),
};

function lastWork(plan: LifecyclePlan, before: number): string {
  return plan.stages.slice(0, before).findLast((stage) => stage.kind === "work")!.name;
}

export function retryOf(stage: StagePlan, code: UserCode): object {
  const backoff = (failed: number) => (code.isOdd(`backoff ${stage.name}`) ? code.odd("backoff") : failed * 3_000);
  return { maxAttempts: stage.maxAttempts, backoff };
}

function edgeOf(plan: LifecyclePlan, stage: StagePlan, to: string, code: UserCode): object {
  const { used } = code.around;
  const site = `${plan.name} ${stage.name}`;
  const has = (hook: StagePlan["hooks"][number]) => stage.hooks.includes(hook);
  const setLast = stage.kind === "callback" || has("set");
  return {
    to,
    ...(has("guard")
      ? {
          guard: ({ data }: Context) => {
            used("guard", data.name);
            return code.isOdd(`${site} guard`, data.name)
              ? code.around.dice.chance(`${site} no`, 0.5)
                ? "not now"
                : code.odd(`${site} guard`)
              : true;
          },
        }
      : {}),
    ...(setLast
      ? {
          set: ({ payload, data }: Context) => {
            if (has("set") && code.isOdd(`${site} set`, data.name)) return code.odd(`${site} set`);
            const value = (payload as { value?: unknown } | undefined)?.value;
            return value === undefined ? { last: undefined } : { last: value };
          },
        }
      : {}),
    ...(has("before")
      ? {
          before: async ({
            tx,
            id,
            state,
            data,
          }: Context & { tx: { query(text: string, values: unknown[]): Promise<unknown> } }) => {
            used("before", data.name);
            await tx.query(`insert into ${hooksTable} (id, state) values ($1, $2)`, [id, state]);
            if (code.isOdd(`${site} before`, data.name)) throw new Error(`the hook of ${site} fails`);
          },
        }
      : {}),
    ...(has("after")
      ? {
          after: async (effect: AnyStep) => {
            const end = code.begin(effect, {
              lifecycle: plan.name,
              state: stage.name,
              kind: "effect",
              maxAttempts: standardRetry.maxAttempts,
            });
            used("after", effect.data.name);
            code.around.ledger.pay(effect.idempotencyKey, String(effect.data.name));
            try {
              return await code.mishap(effect, stage, `${site} after ${effect.data.name}`, () => undefined);
            } finally {
              end();
            }
          },
        }
      : {}),
  };
}
