import { readdirSync, readFileSync } from "node:fs";

/** How many parts of a second the kernel counts a processor's time in; the same on all machines of Linux. */
const ticksPerSecond = 100;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** Of the process, and of its children that have ended. */
  readonly cpuMs: number;
}

/**
 * The processor's time of a server, its processes that have ended included, in milliseconds; undefined where the system
 * does not have `/proc`.
 */
export function cpuOf(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  const all = stats();
  if (!all.some((one) => one.pid === pid)) return undefined;
  return all.reduce((sum, one) => sum + (one.pid === pid || one.parent === pid ? one.cpuMs : 0), 0);
}

function stats(): Stat[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? statOf(Number(name)) : []));
  } catch {
    return [];
  }
}

/** Nothing of a process that has just ended. */
function statOf(pid: number): Stat[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program stands in brackets, and may hold spaces.
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, part) => sum + part, 0);
    return [{ pid, parent: fields[1]!, cpuMs: (ticks * 1_000) / ticksPerSecond }];
  } catch {
    return [];
  }
}
