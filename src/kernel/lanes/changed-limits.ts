import type { LaneLimitsRow } from "../../store/tasks/lane-limits.ts";

/** The limits that operators have changed, as this process has read them last, by `lifecycle/state`. */
export class ChangedLimits {
  #rows: ReadonlyMap<string, LaneLimitsRow> = new Map();

  of(gate: string): LaneLimitsRow | undefined {
    return this.#rows.get(gate);
  }

  put(rows: readonly LaneLimitsRow[]): void {
    this.#rows = new Map(rows.map((row) => [row.gate, row]));
  }
}
