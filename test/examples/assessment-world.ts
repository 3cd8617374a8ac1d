import type { Services } from "../../examples/assessment/services/clients.ts";
import type { EffectLedger } from "../../src/testing/effect-ledger.ts";

/** What a service is asked with. */
type Caller = Parameters<Services["checker"]["submit"]>[1];

/**
 * The three services of an assessment as a ledger sees them: each does the work of one idempotency key once. Without keys, as
 * if the clients had forgotten the header, every request is another one. What is recorded is about the visit that asked.
 */
export function servicesOf(effects: EffectLedger, { withKeys = true } = {}): Services {
  let runs = 0;
  const keyOf = (caller: Caller) => (withKeys ? caller.idempotencyKey : undefined);
  const asked = <Answer>(name: string, caller: Caller, answer: () => Answer): Promise<Answer> =>
    effects.record(name, { key: keyOf(caller), about: caller.idempotencyKey }, answer);
  return {
    checker: {
      submit: (_, caller) => asked("score", caller, () => ({ runId: keyOf(caller) ?? `run ${++runs}` })),
    },
    plagiarism: {
      index: (_, caller) => asked("index", caller, () => ({})),
      compare: (_, caller) => asked("compare", caller, () => ({ similarity: 0 })),
      forget: (_, caller) => asked("forget", caller, () => ({})),
    },
    proctoring: { analyse: (_, caller) => asked("analyse", caller, () => ({ oddities: 1 })) },
  };
}
