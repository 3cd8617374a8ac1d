/**
 * Group commit: what is asked for while a batch is under way goes into the next one together. A single call is not made
 * to wait, and batches grow with the load by themselves.
 */
export class Gatherer<Asked, Answer> {
  readonly #run: (batch: Asked[]) => Promise<Answer[]>;
  readonly #most: number;
  readonly #atOnce: number;
  #underWay = 0;
  #waiting: { asked: Asked; resolve: (answer: Answer) => void; reject: (error: unknown) => void }[] = [];

  constructor(run: (batch: Asked[]) => Promise<Answer[]>, options: { most: number; atOnce: number }) {
    this.#run = run;
    this.#most = options.most;
    this.#atOnce = options.atOnce;
  }

  ask(asked: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      // After the calls of this turn, so that a loop of sends without await is one batch.
      if (this.#waiting.length === 1) queueMicrotask(() => this.#next());
    });
  }

  #next(): void {
    while (this.#underWay < this.#atOnce && this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#most);
      this.#underWay += 1;
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
    this.#underWay -= 1;
    this.#next();
  }
}
