import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { chance } from "../../chance.ts";
import type { Request } from "./listen.ts";
import { startService } from "./service.ts";
import type { Trouble } from "./trouble.ts";

const Submission = z.object({
  solve: z.string(),
  candidate: z.string(),
  question: z.string(),
  code: z.string(),
  /** The address for the verdict. */
  callback: z.string(),
});

interface Run extends z.infer<typeof Submission> {
  readonly id: string;
  readonly idempotencyKey: string;
  /** None while it runs, and never any if the checker died over it. */
  score?: number;
}

interface Scored {
  readonly solve: string;
  /** The id of the request that the code came with. */
  readonly idempotencyKey: string;
}

export interface CodeChecker {
  readonly url: string;
  /** The code that was scored, one entry each time. */
  readonly scored: readonly Scored[];
  /** Resolves when no code runs and no verdict is being sent. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const name = "code checker";
const tries = 6;

/**
 * Runs candidates' code, up to `slownessMs` each, and calls back with a score. A verdict that is refused is sent again
 * a few times. Code with `exhaust(4)` kills its first four runs.
 */
export async function startCodeChecker(trouble: Trouble, slownessMs = 100): Promise<CodeChecker> {
  const prefix = randomUUID(); // No run of an earlier checker is taken for one of this.
  const runs = new Map<string, Run>();
  const deaths = new Map<string, number>();
  const scored: Scored[] = [];
  const busy = new Set<Promise<void>>();
  const stopped = new AbortController();
  setMaxListeners(0, stopped.signal); // Every run that rests listens.

  function keepBusy(work: Promise<void>): void {
    const done = work.finally(() => busy.delete(done));
    busy.add(done);
  }

  async function check(run: Run): Promise<void> {
    const { solve, question, code, idempotencyKey } = run;
    if (!(await rest(chance("slow", question, code) * slownessMs))) return;
    scored.push({ solve, idempotencyKey });
    run.score = Math.round(chance("score", question, code) * 100);
    await bring(run);
  }

  async function bring({ callback, solve, id, score }: Run): Promise<void> {
    const body = JSON.stringify({ solve, runId: id, score });
    for (let time = 0; time < tries; time++) {
      const isTaken = await fetch(callback, { method: "POST", body, signal: stopped.signal })
        .then(async (response) => (await response.text()) !== "" && response.ok)
        .catch(() => false);
      if (isTaken || !(await rest(50 * 2 ** time))) return;
    }
  }

  /** Whether the checker is still there afterwards. */
  function rest(ms: number): Promise<boolean> {
    return setTimeout(ms, true, { signal: stopped.signal }).catch(() => false);
  }

  function begin({ body, idempotencyKey }: Request): Run {
    const run = { ...Submission.parse(body), id: `${prefix}-${runs.size + 1}`, idempotencyKey };
    runs.set(idempotencyKey, run);
    return run;
  }

  /** Whether the code itself kills this run. */
  function exhausts({ solve, code }: Run): boolean {
    const times = Number(/exhaust\((\d+|Infinity)\)/.exec(code)?.[1] ?? 0);
    const died = deaths.get(solve) ?? 0;
    deaths.set(solve, died + 1);
    if (died >= times) return false;
    trouble.note(name, "crashes");
    return true;
  }

  const listener = await startService(
    {
      name,
      subject({ body }) {
        const { candidate, question } = Submission.parse(body);
        return `${candidate} ${question}`;
      },
      answer(request) {
        const run = begin(request);
        if (!exhausts(run)) keepBusy(check(run));
        return { runId: run.id };
      },
      again({ idempotencyKey }) {
        const run = runs.get(idempotencyKey)!;
        if (run.score !== undefined) keepBusy(bring(run));
      },
      crash: (request) => ({ runId: begin(request).id }), // It accepts the code, and dies over it.
    },
    trouble,
  );
  return {
    url: listener.url,
    scored,
    async idle() {
      while (busy.size > 0) await Promise.all(busy);
    },
    async close() {
      stopped.abort();
      await Promise.all(busy);
      await listener.close();
    },
  };
}
