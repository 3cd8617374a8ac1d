import picocolors from "picocolors";
import { bar, LiveLines } from "../terminal.ts";
import type { Look } from "./simulation.ts";

/** Shows a simulation while it runs. */
export interface View {
  show(look: Look): void;
  /** Keeps the last output on the screen. */
  end(): void;
}

const nameWidth = 36;
const plainEveryMs = 2_000;

/** Bars on a terminal, an occasional line elsewhere. */
export function viewOn(stdout: NodeJS.WriteStream, states: readonly string[]): View {
  return stdout.isTTY ? new Bars(stdout, states) : new Lines(stdout, states);
}

class Bars implements View {
  readonly #stdout: NodeJS.WriteStream;
  readonly #states: readonly string[];
  readonly #lines: LiveLines;
  readonly #beganAt = performance.now();

  constructor(stdout: NodeJS.WriteStream, states: readonly string[]) {
    this.#stdout = stdout;
    this.#states = states;
    this.#lines = new LiveLines(stdout);
  }

  show(look: Look): void {
    const { dim, bold } = picocolors;
    const width = Math.max(10, Math.min(this.#stdout.columns ?? 80, 110) - nameWidth - 9);
    const shown = this.#states.filter((state) => state !== "discarded" || look.counts.has(state));
    const rows = shown.map((state) => {
      const count = look.counts.get(state) ?? 0;
      const name = state.padEnd(nameWidth);
      if (count === 0) return `  ${dim(name)}`;
      return `  ${name}${paintOf(state)(bar((count / look.attempts) * width))} ${bold(count)}`;
    });
    const seconds = Math.floor((performance.now() - this.#beganAt) / 1_000);
    this.#lines.draw([...rows, "", `  ${summaryOf(look, seconds).join(dim("   "))}`]);
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

  constructor(stdout: NodeJS.WriteStream, states: readonly string[]) {
    this.#stdout = stdout;
    this.#states = states;
  }

  show(look: Look): void {
    const now = performance.now();
    if (now - this.#shownAt < plainEveryMs && !look.isOver) return;
    this.#shownAt = now;
    const states = this.#states.filter((state) => look.counts.has(state));
    const counts = states.map((state) => `${state} ${look.counts.get(state)}`).join(" · ");
    const seconds = Math.floor((now - this.#beganAt) / 1_000);
    this.#stdout.write(`${summaryOf(look, seconds).join(", ")}: ${counts}\n`);
  }

  end(): void {}
}

function summaryOf({ faults, recoveries, alerts, scored }: Look, seconds: number): string[] {
  const figures = [`answers scored ${scored}`, `faults ${faults}`, `recoveries ${recoveries}`, `alerts ${alerts}`];
  return [`${seconds} s`, ...figures];
}

function paintOf(state: string): (text: string) => string {
  if (state === "processed") return picocolors.green;
  return state === "failed" ? picocolors.red : picocolors.cyan;
}
