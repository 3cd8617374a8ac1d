import picocolors from "picocolors";
import type { Look } from "./simulation.ts";

/** Shows a simulation while it runs. */
export interface View {
  show(look: Look): void;
  /** Leaves what was shown last. */
  end(): void;
}

const nameWidth = 36;
const plainEveryMs = 2_000;

/** Bars for a person who looks on, now and then a line for everybody else. */
export function viewOn(stdout: NodeJS.WriteStream, states: readonly string[]): View {
  return stdout.isTTY ? new Bars(stdout, states) : new Lines(stdout, states);
}

class Bars implements View {
  readonly #stdout: NodeJS.WriteStream;
  readonly #states: readonly string[];
  readonly #beganAt = performance.now();
  #drawn = 0;

  constructor(stdout: NodeJS.WriteStream, states: readonly string[]) {
    this.#stdout = stdout;
    this.#states = states;
    stdout.write("\x1b[?25l"); // A cursor that jumps about is no help.
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
    const lines = [...rows, "", `  ${summaryOf(look, seconds).join(dim("   "))}`];
    const back = this.#drawn === 0 ? "" : `\x1b[${this.#drawn}A`;
    this.#stdout.write(`${back}${lines.map((line) => `${line}\x1b[K\n`).join("")}`);
    this.#drawn = lines.length;
  }

  end(): void {
    this.#stdout.write("\x1b[?25h");
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

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar of a length in characters, to the eighth of one; what is there at all is seen. */
function bar(length: number): string {
  const whole = Math.max(1, Math.round(length * 8));
  return "█".repeat(Math.floor(whole / 8)) + eighths[whole % 8]!;
}
