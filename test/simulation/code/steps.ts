import { isDeepStrictEqual } from "node:util";
import type { LifecyclePlan, StagePlan, StepPart } from "../plan/plan.ts";
import type { AnyStep } from "./any-step.ts";
import { breakerName } from "./names.ts";
import type { Parts } from "./parts.ts";

interface Doing extends Parts {
  readonly step: AnyStep;
  readonly plan: LifecyclePlan;
  readonly stage: StagePlan;
  readonly name: string;
  /** What the dice are asked by: this visit of this instance. */
  readonly site: string;
}

/** The handler of a working stage. */
export function runOf(plan: LifecyclePlan, stage: StagePlan, at: number, parts: Parts) {
  const { code, built } = parts;
  const { dice, ledger, used } = code.around;
  const before = plan.stages[at - 1];
  const waitsForCall = plan.stages.findIndex((one, place) => place > at && one.kind === "callback");
  const joins = plan.stages.some((one, place) => place > at && one.kind === "join");
  return async (step: AnyStep): Promise<unknown> => {
    const end = code.begin(step, {
      lifecycle: plan.name,
      state: stage.name,
      kind: "step",
      maxAttempts: stage.maxAttempts,
    });
    const name = String(step.data.name);
    const site = `${plan.name} ${stage.name} ${name} ${step.idempotencyKey.slice(37)}`;
    try {
      if (before?.kind === "callback") ledger.enter(step, site);
      if (stage.limit !== undefined) used("limit", name);
      if (stage.rate) used("rate", name);
      if (stage.breaker) used("uses", name);
      for (const part of stage.parts) {
        used(part, name);
        await doing[part]({ ...parts, step, plan, stage, name, site });
      }
      if (waitsForCall >= 0) ledger.tokens.push({ name, token: await step.callbackToken(`c${waitsForCall}`) });
      if (joins) {
        const child = built.get("child")!;
        for (let each = 0; each < stage.children; each++)
          step.start(child, { key: `${stage.name}-${each}`, data: { name: `${name}/${stage.name}-${each}` } });
      }
      return await code.mishap(step, stage, site, () => {
        used("work", name);
        return dice.chance(`${site} says`, 0.5) ? step.go(`e${at}`) : undefined;
      });
    } finally {
      end();
    }
  };
}

const doing: Readonly<Record<StepPart, (doing: Doing) => void | Promise<void>>> = {
  once: (given) => once(given, given.step.idempotencyKey, { scope: "visit" }),
  "once for the instance": (given) => once(given, given.step.keyFor("once"), { scope: "instance" }),
  progress: ({ step, code, site }) => step.progress(code.around.dice.draw(site), "on its way"),
  publish: ({ step, name, stage }) => step.publish("simulated.done", { name, state: stage.name }),
  set: ({ step, code, site }) => step.set({ put: code.around.dice.pick(`${site} put`, ["", "text", null]) }),
  effect: ({ step, code, name }) => code.around.ledger.pay(step.keyFor("effect"), name),
  send: ({ step, code, site, built, plan }) => {
    const to = `i${code.around.dice.between(`${site} to`, 0, 9)}`;
    step.send(built.get(plan.name), to, "note", { mark: `${site} ${step.attempt}` });
  },
  "breaker call": async ({ step, code, site }) => {
    const { dice, isHealed } = code.around;
    const isDown = !isHealed() && dice.chance(`${site} call ${step.attempt}`, 0.3);
    await step.call(breakerName, async () => {
      if (isDown) throw new Error("the dependency is down");
    });
  },
};

async function once({ step, code }: Doing, key: string, options: object): Promise<void> {
  const { dice, ledger } = code.around;
  const made = dice.pick(`${key.slice(37)} value`, [null, 0, "", { a: null }, [1, null], undefined]);
  const value = await step.once("value", options, () => {
    ledger.onceBegins(key);
    return made;
  });
  // The same work makes the same value: whichever attempt did it, this is what comes back.
  if (!isDeepStrictEqual(value, made))
    ledger.problem(`once ${key} made ${JSON.stringify(made)} and returned ${JSON.stringify(value)}`);
  ledger.onceReturned(key, value);
}
