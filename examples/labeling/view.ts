import type { SampleState } from "pawl";
import picocolors from "picocolors";
import { bar, LiveLines } from "../terminal.ts";
import type { Look } from "./simulation.ts";

/** Shows a simulation while it runs. */
export interface View {
  show(look: Look): void;
  /** Keeps the last output on the screen. */
  end(): void;
}

const { dim, bold, green, yellow, cyan } = picocolors;
const nameWidth = 12;
const plainEveryMs = 2_000;
const paints = { agreed: green, open: cyan } as Partial<Record<SampleState, (text: string) => string>>;
const inOrder: readonly SampleState[] = ["agreed", "exhausted", "unassignable", "closed", "open"];

/** Bars and labelers on a terminal, an occasional line elsewhere. */
export function viewOn(stdout: NodeJS.WriteStream): View {
  return stdout.isTTY ? new Picture(stdout) : new Lines(stdout);
}

class Picture implements View {
  readonly #stdout: NodeJS.WriteStream;
  readonly #lines: LiveLines;
  readonly #beganAt = performance.now();

  constructor(stdout: NodeJS.WriteStream) {
    this.#stdout = stdout;
    this.#lines = new LiveLines(stdout);
  }

  show({ queues, people }: Look): void {
    const width = Math.max(10, Math.min(this.#stdout.columns ?? 80, 100) - nameWidth - 30);
    const bars = queues.map(({ name, states }) => {
      const all = [...states.values()].reduce((sum, one) => sum + one, 0);
      const parts = inOrder.filter((state) => states.has(state) && state !== "open");
      const drawn = parts.map((state) => (paints[state] ?? yellow)(bar((states.get(state)! / all) * width)));
      return `  ${name.padEnd(nameWidth)}${drawn.join("")} ${countsOf(states)}`;
    });
    const desks = people.map(({ name, doing, tally }) => {
      const labels = String(tally.labels).padStart(4);
      const rest = [
        tally.skipped > 0 ? `${tally.skipped} skipped` : "",
        tally.left > 0 ? `${tally.left} left lying` : "",
        tally.late > 0 ? `${tally.late} late` : "",
      ].filter((part) => part !== "");
      return `  ${name.padEnd(nameWidth)}${bold(labels)} labels   ${(doing === "" ? "has nothing to do" : doing).padEnd(28)}${dim(rest.join(", "))}`;
    });
    const seconds = Math.floor((performance.now() - this.#beganAt) / 1_000);
    this.#lines.draw([...bars, "", ...desks, "", dim(`  ${seconds} s`)]);
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

  show({ queues, isOver }: Look): void {
    const now = performance.now();
    if (now - this.#shownAt < plainEveryMs && !isOver) return;
    this.#shownAt = now;
    const counts = queues.map(({ name, states }) => `${name} ${countsOf(states)}`);
    this.#stdout.write(`${Math.floor((now - this.#beganAt) / 1_000)} s: ${counts.join("; ")}\n`);
  }

  end(): void {}
}

function countsOf(states: ReadonlyMap<SampleState, number>): string {
  return inOrder
    .filter((state) => states.has(state))
    .map((state) => `${states.get(state)} ${state}`)
    .join(" · ");
}
