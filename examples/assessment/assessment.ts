import { attemptLifecycle } from "./attempt.ts";
import { minutesOf } from "./minutes.ts";
import type { Services } from "./services/clients.ts";
import { solveLifecycle } from "./solve.ts";

export type Assessment = ReturnType<typeof assessment>;

/** The lifecycles of an assessment on its three services, and the breakers of those: all by the same clock. */
export function assessment(services: Services, options: { minuteMs?: number | undefined } = {}) {
  const minutes = minutesOf(options.minuteMs);
  const solve = solveLifecycle(services, minutes);
  const attempt = attemptLifecycle(solve, services, minutes);
  const breaker = {
    window: Math.max(1_000, minutes(1)),
    openFor: Math.max(100, minutes(0.5)),
    ramp: minutes(0.2),
    publish: false as const,
  };
  return {
    attempt,
    solve,
    lifecycles: [attempt, solve],
    breakers: { "code-checker": breaker, "plagiarism-index": breaker, proctoring: breaker },
  };
}
