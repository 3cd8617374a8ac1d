import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { compiled } from "../../setup/compile.ts";

/** A line of output of a worker process. */
export interface Said {
  readonly by: WorkerProcess;
  readonly what: string;
  readonly words: readonly string[];
}

/** One worker process, and the steps that it has begun and not ended. */
export class WorkerProcess {
  readonly ready: Promise<void>;
  readonly running = new Set<string>();
  /** How many of its steps have taken a connection for themselves. */
  holds = 0;
  /** The number of its maintenance rounds, and of its silent workers. */
  looks = 0;
  readonly #child: ChildProcess;
  readonly #ended: Promise<NodeJS.Signals | null>;

  constructor(
    env: Record<string, string>,
    hear: (said: Said) => void,
    program = "test/faults/processes/worker-child.ts",
  ) {
    const file = compiled(program);
    const { NODE_OPTIONS: _, ...rest } = process.env;
    this.#child = spawn(process.execPath, [file], {
      env: { ...rest, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#ended = new Promise((resolve) => this.#child.once("close", (_code, signal) => resolve(signal)));
    this.ready = new Promise((resolve) => {
      createInterface(this.#child.stdout!).on("line", (line) => {
        const [what = "", ...words] = line.split("\t");
        if (what === "ready") resolve();
        if (what === "holds") this.holds += 1;
        if (what === "looked") this.looks += 1;
        if (what === "begin") this.running.add(words[2]!);
        if (what === "end") this.running.delete(words[2]!);
        hear({ by: this, what, words });
      });
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** By which signal, if by one. */
  get ended(): Promise<NodeJS.Signals | null> {
    return this.#ended;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  /** A line on its stdin. */
  tell(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  stop(): void {
    this.#child.kill("SIGSTOP");
  }

  goOn(): void {
    this.#child.kill("SIGCONT");
  }
}
