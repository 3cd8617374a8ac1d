import type { Pawl } from "../../api/pawl.ts";
import type { Terminal } from "./terminal.ts";

const everyMs = 1_000;

/** Keeps the process alive and, on a terminal, prints a line whenever the counts of a lifecycle have changed. */
export function watchCounts(terminal: Terminal, pawl: Pawl): { stop(): Promise<void> } {
  const shown = new Map<string, string>();
  // In a project with queues only, their samples are all that changes.
  const watched = pawl.lifecycles.length === 0 ? pawl.internalLifecycles : pawl.lifecycles;
  let underWay = Promise.resolve();
  let isBusy = false;
  const look = async (): Promise<void> => {
    isBusy = true;
    try {
      for (const lifecycle of watched) {
        const counts: Readonly<Record<string, number | undefined>> = await pawl.inspect.counts(lifecycle);
        const states = [...lifecycle.states.keys()].filter((state) => (counts[state] ?? 0) > 0);
        const line = states.map((state) => `${state} ${counts[state]}`).join(terminal.paint.dim(" · "));
        const before = shown.get(lifecycle.name);
        shown.set(lifecycle.name, line);
        if (before !== undefined && before !== line) print(terminal, lifecycle.name, line);
      }
    } catch {
      // Maintenance reads the same database every second, and reports its errors.
    } finally {
      isBusy = false;
    }
  };
  const timer = setInterval(() => {
    if (terminal.isTty && !terminal.json && !isBusy) underWay = look();
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}

function print(terminal: Terminal, lifecycle: string, line: string): void {
  const time = new Date().toTimeString().slice(0, 8);
  terminal.print(`  ${terminal.paint.dim(time)}  ${lifecycle}  ${line}`);
}
