import { setMaxListeners } from "node:events";
import { setTimeout as rest } from "node:timers/promises";
import { z } from "zod";
import { chance } from "../../chance.ts";
import { Model, TooMany } from "./model.ts";

export const GradingRequest = z.object({
  requestId: z.string(),
  submissionId: z.string(),
  skill: z.enum(["writing", "speaking"]),
  text: z.string(),
});

export type GradingRequest = z.infer<typeof GradingRequest>;

/** The faults of a grader. Being `down` is controlled from outside. */
const troubles = ["none", "slow", "limited", "wrong", "late"] as const;
export type Trouble = (typeof troubles)[number];

/** The actions of a grader. */
export type Deed = "took" | "answered" | "garbled" | "failed" | "was told to wait";

export interface GraderOptions {
  readonly minuteMs: number;
  readonly seed: number;
  /** Sends an answer, and resolves when it is durable. */
  readonly send: (callback: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly onDeed: (deed: Deed, submissionId: string) => void;
}

/** Longer than a writing has, and longer than a speaking. */
const tooLate = { writing: 24, speaking: 66 };

/** A grading service: it reads a request, asks a model, and sends its answer. It stores nothing. */
export class Grader {
  trouble: Trouble = "none";
  readonly #options: GraderOptions;
  readonly #model: Model;
  readonly #gone = new AbortController();

  constructor(options: GraderOptions) {
    this.#options = options;
    this.#model = new Model(options.minuteMs);
    setMaxListeners(0, this.#gone.signal); // The number of requests in progress.
  }

  /** Resolves when the request is answered; throws if it is killed before. */
  async grade(request: GradingRequest): Promise<void> {
    const { seed, send, onDeed } = this.#options;
    const { requestId, submissionId, skill, text } = request;
    onDeed("took", submissionId);
    const { trouble } = this;
    const visit = requestId.split(":").at(-1)!; // A repeated request has another chance.
    const luck = chance("grader", seed, text, visit);
    await this.#minutes(
      trouble === "late" && luck < 0.6 ? tooLate[skill] : trouble === "slow" ? 6 + 4 * luck : 1 + luck,
    );
    const about = { requestId, submissionId };
    if (trouble === "wrong" && luck < 0.35) {
      await send({ ...about, status: "failed", error: { message: "The model answered in verse." } });
      onDeed("failed", submissionId);
    } else if (trouble === "wrong" && luck < 0.6) {
      await send({ ...about, status: "completed", score: "very good", feedback: null });
      onDeed("garbled", submissionId);
    } else {
      await send({ ...about, status: "completed", ...(await this.#ask(request, trouble === "limited")) });
      onDeed("answered", submissionId);
    }
  }

  /** Asks the model, and again after the delay that it requests. */
  async #ask({ text, submissionId }: GradingRequest, isLimited: boolean): Promise<{ score: number; feedback: string }> {
    for (;;) {
      try {
        return this.#model.grade(text, isLimited);
      } catch (error) {
        if (!(error instanceof TooMany)) throw error;
        this.#options.onDeed("was told to wait", submissionId);
        await this.#minutes(error.retryAfterMinutes);
      }
    }
  }

  async #minutes(count: number): Promise<void> {
    await rest(count * this.#options.minuteMs, undefined, { signal: this.#gone.signal });
  }

  /** Drops everything. */
  vanish(): void {
    this.#gone.abort();
  }
}
