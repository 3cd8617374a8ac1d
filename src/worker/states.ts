/** The states of a worker's loop. */
export const loopStates = ["Startup", "Connecting", "Recovery", "Polling", "Backoff", "Idle", "ErrorWait"] as const;
/** What each of its slots can be doing. */
export const slotStates = ["Claiming", "Processing", "ReportingSuccess", "ReportingFailure"] as const;

export type LoopState = (typeof loopStates)[number];
export type SlotState = (typeof slotStates)[number];
export type WorkerState = LoopState | SlotState;

/** Every move that a worker makes; any state may also fall into ErrorWait, which is the sixteenth. */
export const workerMoves: readonly (readonly [WorkerState, WorkerState])[] = [
  ["Startup", "Connecting"],
  ["Connecting", "Recovery"],
  ["Connecting", "ErrorWait"],
  ["Recovery", "Polling"],
  ["Polling", "Claiming"],
  ["Polling", "Backoff"],
  ["Backoff", "Idle"],
  ["Idle", "Connecting"],
  ["Claiming", "Processing"],
  ["Claiming", "Polling"],
  ["Processing", "ReportingSuccess"],
  ["Processing", "ReportingFailure"],
  ["ReportingSuccess", "Polling"],
  ["ReportingFailure", "Polling"],
  ["ErrorWait", "Connecting"],
];

/** A move of the loop, or of one slot. */
export interface WorkerMove {
  readonly from: WorkerState;
  readonly to: WorkerState;
  /** How long it rests at most, where it goes to rest. */
  readonly restMs?: number;
}

/** Where a worker is: one state of its loop, and how many slots are in each of theirs. */
export class WorkerStates {
  #loop: LoopState = "Startup";
  readonly #slots: Record<SlotState, number> = { Claiming: 0, Processing: 0, ReportingSuccess: 0, ReportingFailure: 0 };
  readonly #watch: (move: WorkerMove) => void;

  constructor(watch: (move: WorkerMove) => void) {
    this.#watch = watch;
  }

  get loop(): LoopState {
    return this.#loop;
  }

  get slots(): Readonly<Record<SlotState, number>> {
    return { ...this.#slots };
  }

  enter(to: LoopState, restMs?: number): void {
    if (to === this.#loop) return;
    const from = this.#loop;
    this.#loop = to;
    this.#watch(restMs === undefined ? { from, to } : { from, to, restMs });
  }

  /**
   * A slot changes its state. From `Polling` it begins; to `Polling`, or to `ErrorWait` after an error in it, it is
   * free again.
   */
  slot(from: SlotState | "Polling", to: SlotState | "Polling" | "ErrorWait"): void {
    if (from !== "Polling") this.#slots[from] -= 1;
    if (to !== "Polling" && to !== "ErrorWait") this.#slots[to] += 1;
    this.#watch({ from, to });
  }
}
