import type { AnyLifecycle, Effect, Step } from "pawl";
import { z } from "zod";
import type { Services } from "./services/clients.ts";
import type { SolveLifecycle } from "./solve.ts";

export const Attempt = z.object({
  candidate: z.string(),
  /** Whether the candidate has submitted everything. */
  finished: z.boolean(),
  answers: z.array(z.object({ question: z.string(), code: z.string() })),
  scores: z.record(z.string(), z.number()).optional(),
  linesOfCode: z.number().optional(),
  /** How often the recording shows something odd. */
  oddities: z.number().optional(),
  score: z.number().optional(),
  /** The answers' likeness to others', from 0 to 1. */
  similarity: z.number().optional(),
});
type Attempt = z.infer<typeof Attempt>;

/** A score does not count when the recording shows more than this. */
const mostOddities = 8;

function linesIn({ answers }: Attempt): number {
  return answers.reduce((sum, { code }) => sum + code.split("\n").length, 0);
}

/** The steps of an attempt, by state. */
export function attemptHandlers(solve: SolveLifecycle, { plagiarism, proctoring }: Services) {
  async function dropEmptyAnswers(step: Step<Attempt>): Promise<void> {
    step.set({ answers: step.data.answers.filter(({ code }) => code.trim() !== "") });
  }

  /**
   * Starts a solve for each answer. After a recovery they exist already; one that never reached the checker tries
   * again.
   */
  async function startSolves(step: Step<Attempt>): Promise<void> {
    const { candidate, answers } = step.data;
    for (const answer of answers) step.start(solve, { key: answer.question, data: { candidate, ...answer } });
    await recoverUnsubmitted(step);
  }

  async function recoverUnsubmitted(work: Effect<Attempt>): Promise<void> {
    for (const child of await work.children(solve)) {
      if (child.state === "failed" && child.data.runId === undefined) work.send(solve, child, "recover");
    }
  }

  /** Checked answers stay checked. */
  async function resubmitSolves(work: Effect<Attempt>): Promise<void> {
    for (const child of await work.children(solve)) {
      if (child.state !== "checked" && child.data.runId !== undefined) work.send(solve, child, "resubmit");
    }
  }

  async function reprocessSolves(effect: Effect<Attempt>): Promise<void> {
    await resubmitSolves(effect);
    await recoverUnsubmitted(effect);
  }

  async function collectScores(step: Step<Attempt>): Promise<void> {
    const solves = await step.children(solve);
    step.set({ scores: Object.fromEntries(solves.map(({ data }) => [data.question, data.score ?? 0])) });
  }

  async function indexAnswers(step: Step<Attempt>): Promise<void> {
    const { candidate, answers } = step.data;
    await plagiarism.index({ attempt: step.id, candidate, answers }, step);
  }

  async function storeInfo(step: Step<Attempt>): Promise<void> {
    step.set({ linesOfCode: linesIn(step.data) });
  }

  /** A recovery of the state before leads here past its step, so the data that it stores may be missing. */
  async function analyseRecording(step: Step<Attempt>): Promise<void> {
    const { oddities } = await proctoring.analyse({ attempt: step.id, candidate: step.data.candidate }, step);
    step.set({ oddities, linesOfCode: step.data.linesOfCode ?? linesIn(step.data) });
  }

  async function verifyProctoring(step: Step<Attempt>): Promise<void> {
    const { scores = {}, oddities = 0 } = step.data;
    const sum = Object.values(scores).reduce((total, score) => total + score, 0);
    step.set({ score: oddities > mostOddities ? 0 : sum });
  }

  async function compareAnswers(step: Step<Attempt>): Promise<void> {
    const { similarity } = await plagiarism.compare({ attempt: step.id, candidate: step.data.candidate }, step);
    step.set({ similarity });
  }

  /** After a restart the completion is requested again, by Pawl's own delivery. */
  function completeAgain(effect: Effect<Attempt>, attempt: AnyLifecycle): void {
    effect.send(attempt, effect, "complete");
  }

  async function forget(effect: Effect<Attempt>): Promise<void> {
    await plagiarism.forget({ attempt: effect.id, candidate: effect.data.candidate }, effect);
  }

  return {
    dropEmptyAnswers,
    startSolves,
    resubmitSolves,
    reprocessSolves,
    collectScores,
    indexAnswers,
    storeInfo,
    analyseRecording,
    verifyProctoring,
    compareAnswers,
    completeAgain,
    forget,
  };
}
