import { Progress } from "../src/cli/show/progress.ts";
import { makeTerminal } from "../src/cli/show/terminal.ts";

const tickMs = 500;

/** The progress of a benchmark: a bar on a terminal, and the results as lines. */
export class Runs {
  readonly #progress: Progress;
  readonly #all: number;
  #done = 0;

  constructor(all: number) {
    this.#progress = new Progress(makeTerminal({}, process.env), all);
    this.#all = all;
  }

  /** The next run; `tell` formats its result. */
  async run<T>(what: string, work: () => Promise<T>, tell: (result: T) => string = () => "done"): Promise<T> {
    const show = () => this.#progress.show(this.#done, `run ${this.#done + 1} of ${this.#all}: ${what}`);
    show();
    const timer = setInterval(show, tickMs);
    try {
      const result = await work();
      this.#done += 1;
      this.#progress.note(`${this.#done} of ${this.#all}: ${what}: ${tell(result)}`);
      return result;
    } finally {
      clearInterval(timer);
      if (this.#done === this.#all) this.#progress.end();
    }
  }
}

export function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString("en")}/s`;
}
