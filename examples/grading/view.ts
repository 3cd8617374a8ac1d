import picocolors from "picocolors";
import { bar, LiveLines } from "../terminal.ts";
import type { Look, Ordeal } from "./simulation.ts";

/** Shows a simulation while it runs. */
export interface View {
  show(look: Look): void;
  /** Keeps the last output on the screen. */
  end(): void;
}

const { bold, cyan, dim, green, red, yellow } = picocolors;
const nameWidth = 12;
const plainEveryMs = 2_000;
const mostNews = 8;

const words: Readonly<Record<Ordeal, string>> = {
  none: "is well",
  slow: "is slow",
  limited: "may ask its model only three times a minute",
  wrong: "answers wrongly, or says that it cannot",
  late: "takes longer than there is time",
  down: "is killed, and stays away for a while",
};

/** Bars and news on a terminal, lines elsewhere. */
export function viewOn(stdout: NodeJS.WriteStream, states: readonly string[]): View {
  return stdout.isTTY ? new Picture(stdout, states) : new Lines(stdout, states);
}

class Picture implements View {
  readonly #stdout: NodeJS.WriteStream;
  readonly #states: readonly string[];
  readonly #lines: LiveLines;
  readonly #beganAt = performance.now();
  #news: string[] = [];

  constructor(stdout: NodeJS.WriteStream, states: readonly string[]) {
    this.#stdout = stdout;
    this.#states = states;
    this.#lines = new LiveLines(stdout);
  }

  show(look: Look): void {
    const width = Math.max(10, Math.min(this.#stdout.columns ?? 80, 100) - nameWidth - 8);
    const rows = this.#states
      .filter((state) => state !== "discarded")
      .map((state) => {
        const count = look.counts.get(state) ?? 0;
        if (count === 0) return `  ${dim(state)}`;
        return `  ${state.padEnd(nameWidth)}${paintOf(state)(bar((count / look.submissions) * width))} ${bold(count)}`;
      });
    this.#news = [...this.#news, ...look.news].slice(-mostNews);
    const seconds = Math.floor((performance.now() - this.#beganAt) / 1_000);
    const news = Array.from({ length: mostNews }, (_, at) => `  ${dim(this.#news[at] ?? "")}`);
    this.#lines.draw([
      ...rows,
      "",
      `  The grader ${yellow(words[look.ordeal])}.`,
      `  ${figuresOf(look).join(dim("   "))}${dim(`   ${seconds} s`)}`,
      "",
      ...news,
    ]);
  }

  end(): void {
    this.#lines.end();
  }
}

class Lines implements View {
  readonly #stdout: NodeJS.WriteStream;
  readonly #states: readonly string[];
  readonly #beganAt = performance.now();
  #shownAt = Number.NEGATIVE_INFINITY;
  #ordeal: Ordeal | undefined;

  constructor(stdout: NodeJS.WriteStream, states: readonly string[]) {
    this.#stdout = stdout;
    this.#states = states;
  }

  show(look: Look): void {
    const now = performance.now();
    const seconds = Math.floor((now - this.#beganAt) / 1_000);
    if (look.ordeal !== this.#ordeal) this.#stdout.write(`${seconds} s: the grader ${words[look.ordeal]}\n`);
    this.#ordeal = look.ordeal;
    for (const one of look.news) this.#stdout.write(`${seconds} s: ${one}\n`);
    if (now - this.#shownAt < plainEveryMs && !look.isOver) return;
    this.#shownAt = now;
    const counts = this.#states
      .filter((state) => look.counts.has(state))
      .map((state) => `${state} ${look.counts.get(state)}`);
    this.#stdout.write(`${seconds} s: ${[...counts, ...figuresOf(look)].join(", ")}\n`);
  }

  end(): void {}
}

function figuresOf({ openRequests, waiting, lateKept, deadLetters }: Look): string[] {
  const figures = [`in the outbox ${waiting}`, `at the grader ${openRequests}`, `late results ${lateKept}`];
  return [...figures, `dead letters ${deadLetters}`];
}

function paintOf(state: string): (text: string) => string {
  if (state === "scored") return green;
  return state === "failed" ? red : cyan;
}
