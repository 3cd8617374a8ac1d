import picocolors from "picocolors";
import { bar, LiveLines } from "../terminal.ts";
import type { Look } from "./simulation.ts";

/** Shows a simulation while it runs. */
export interface View {
  show(look: Look): void;
  /** Keeps the last output on the screen. */
  end(): void;
}

const { dim, green, red, yellow, cyan } = picocolors;
const plainEveryMs = 2_000;
const paints: Readonly<Record<string, (text: string) => string>> = {
  read: green,
  approved: green,
  rejected: red,
  unread: red,
  errored: yellow,
};

/** Bars on a terminal, an occasional line elsewhere. */
export function viewOn(stdout: NodeJS.WriteStream): View {
  return stdout.isTTY ? new Picture(stdout) : new Lines(stdout);
}

class Picture implements View {
  readonly #lines: LiveLines;

  constructor(stdout: NodeJS.WriteStream) {
    this.#lines = new LiveLines(stdout);
  }

  show({ receipts, submissions }: Look): void {
    const drawn = (counts: ReadonlyMap<string, number>) =>
      [...counts].map(([state, count]) => {
        const paint = paints[state] ?? cyan;
        return `  ${state.padEnd(18)}${paint(bar(count))} ${count}`;
      });
    this.#lines.draw([dim("  receipts"), ...drawn(receipts), "", dim("  submissions"), ...drawn(submissions)]);
  }

  end(): void {
    this.#lines.end();
  }
}

class Lines implements View {
  readonly #stdout: NodeJS.WriteStream;
  readonly #beganAt = performance.now();
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(stdout: NodeJS.WriteStream) {
    this.#stdout = stdout;
  }

  show({ receipts, submissions, isOver }: Look): void {
    const now = performance.now();
    if (now - this.#shownAt < plainEveryMs && !isOver) return;
    this.#shownAt = now;
    const seconds = Math.floor((now - this.#beganAt) / 1_000);
    this.#stdout.write(`${seconds} s: receipts ${countsOf(receipts)}; submissions ${countsOf(submissions)}\n`);
  }

  end(): void {}
}

function countsOf(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([state, count]) => `${state} ${count}`).join(", ") || "none yet";
}
