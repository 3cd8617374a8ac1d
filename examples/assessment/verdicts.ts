import type { Pawl } from "pawl";
import { z } from "zod";
import type { Answer, Request } from "./services/listen.ts";
import type { SolveLifecycle } from "./solve.ts";

const Verdict = z.object({ solve: z.string(), runId: z.string(), score: z.number() });

/**
 * Receives the verdicts of the code checker. A repeated one gets its first answer. One that comes before its solve
 * waits for it, or of a run that no longer counts, is refused; the checker retries a few times.
 */
export function verdictsFor(pawl: Pawl, solve: SolveLifecycle): (request: Request) => Promise<Answer> {
  return async ({ body }) => {
    const { solve: id, ...verdict } = Verdict.parse(body);
    const by = { actor: "code-checker", idempotencyKey: verdict.runId };
    const sent = await pawl.trySend(solve, { id }, "verdict", verdict, by);
    return sent.ok ? { status: 200 } : { status: 409, body: { error: sent.error.message } };
  };
}
