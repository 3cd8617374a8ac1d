import type { Services } from "../../examples/assessment/services/clients.ts";
import type { EffectLedger } from "../../src/testing/effect-ledger.ts";

/** What a service is asked with. */
type Caller = Parameters<Services["checker"]["submit"]>[1];

/**
 * The three services of an assessment as a ledger sees them: each does the work of one idempotency key once. Without keys, as
 * if the clients had forgotten the header, every request is another one.
 */
export function servicesOf(effects: EffectLedger, { withKeys = true } = {}): Services {
  let runs = 0;
  const keyOf = (caller: Caller) => (withKeys ? caller.idempotencyKey : undefined);
  const asked = <Answer>(name: string, about: string, caller: Caller, answer: () => Answer): Promise<Answer> =>
    effects.record(name, { key: keyOf(caller), about }, answer);
  return {
    checker: {
      submit: ({ solve }, caller) => asked("score", solve, caller, () => ({ runId: keyOf(caller) ?? `run ${++runs}` })),
    },
    plagiarism: {
      index: ({ attempt }, caller) => asked("index", attempt, caller, () => ({})),
      compare: ({ attempt }, caller) => asked("compare", attempt, caller, () => ({ similarity: 0 })),
      forget: ({ attempt }, caller) => asked("forget", attempt, caller, () => ({})),
    },
    proctoring: { analyse: ({ attempt }, caller) => asked("analyse", attempt, caller, () => ({ oddities: 1 })) },
  };
}
