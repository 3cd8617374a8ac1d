import { type FaultPoint, type Faults, faultPoints } from "../kernel/faults.ts";

/** What happens at a fault point: the process ends at once, an error is thrown, or the test's own function runs. */
export type FaultAction = "crash" | "throw" | (() => void | Promise<void>);

/** Faults that a test plants. Each fires at its n-th visit, once. */
export class PlantedFaults implements Faults {
  readonly #planted: { point: FaultPoint; action: FaultAction; visits: number }[] = [];
  readonly #visited = new Map<FaultPoint, number>();

  /** At the `nth` visit of this point from now on. */
  plant(point: FaultPoint, action: FaultAction, nth = 1): void {
    this.#planted.push({ point, action, visits: nth });
  }

  /** How often a point was passed. */
  visits(point: FaultPoint): number {
    return this.#visited.get(point) ?? 0;
  }

  async at(point: FaultPoint): Promise<void> {
    this.#visited.set(point, this.visits(point) + 1);
    for (const fault of this.#planted) {
      if (fault.point !== point || --fault.visits !== 0) continue;
      if (fault.action === "crash") process.kill(process.pid, "SIGKILL");
      else if (fault.action === "throw") throw new Error(`A fault was planted at ${point}.`);
      else await fault.action();
    }
  }
}

/** Faults from a text such as `commit.before:crash:3`, for processes that a test starts. */
export function faultsFrom(text: string | undefined): PlantedFaults | undefined {
  if (text === undefined || text === "") return undefined;
  const faults = new PlantedFaults();
  for (const one of text.split(",")) {
    const [point = "", action = "", nth = "1"] = one.split(":");
    if (!faultPoints.includes(point as FaultPoint) || (action !== "crash" && action !== "throw")) {
      throw new Error(`"${one}" is not a fault; write one such as commit.before:crash:3.`);
    }
    faults.plant(point as FaultPoint, action, Number(nth));
  }
  return faults;
}
