/**
 * Group commit: calls that arrive while a batch is running form the next batch. A single call does not wait, and
 * batches grow with the load.
 */
export class Batcher<Asked, Answer> {
  readonly #run: (batch: Asked[]) => Promise<Answer[]>;
  readonly #maxBatch: number;
  readonly #concurrency: number;
  #running = 0;
  #waiting: { asked: Asked; resolve: (answer: Answer) => void; reject: (error: unknown) => void }[] = [];

  constructor(run: (batch: Asked[]) => Promise<Answer[]>, options: { maxBatch: number; concurrency: number }) {
    this.#run = run;
    this.#maxBatch = options.maxBatch;
    this.#concurrency = options.concurrency;
  }

  add(asked: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      // After the calls of this turn, so that a loop of sends without await is one batch.
      if (this.#waiting.length === 1) queueMicrotask(() => this.#next());
    });
  }

  #next(): void {
    while (this.#running < this.#concurrency && this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#maxBatch);
      this.#running += 1;
      void this.#finish(batch);
    }
  }

  async #finish(
    batch: { asked: Asked; resolve: (answer: Answer) => void; reject: (error: unknown) => void }[],
  ): Promise<void> {
    try {
      const answers = await this.#run(batch.map((one) => one.asked));
      for (let index = 0; index < batch.length; index++) batch[index]!.resolve(answers[index]!);
    } catch (error) {
      for (const one of batch) one.reject(error);
    }
    this.#running -= 1;
    this.#next();
  }
}
