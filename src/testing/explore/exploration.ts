import type { StateKind } from "../../definition/model.ts";
import type { FailureRoute } from "./check-recoveries.ts";
import type { Budget } from "./check-times.ts";
import type { EventMatrix } from "./event-matrix.ts";
import type { Mover } from "./exits.ts";
import type { Finding } from "./finding.ts";

/** What `explore` found out about a definition. */
export interface Exploration {
  readonly lifecycle: string;
  readonly version: number;
  /** Weaknesses, errors first. */
  readonly findings: readonly Finding[];
  /** The declared states that are not final. */
  readonly states: readonly ExploredState[];
  readonly matrix: EventMatrix;
  /** All of it as text, for a terminal or a snapshot. */
  readonly text: string;
}

/** What moves an instance out of a state, and what happens when it fails there. */
export interface ExploredState {
  readonly name: string;
  readonly kind: StateKind;
  readonly movedBy: readonly Mover[];
  readonly failure: FailureRoute;
  /** What its step may spend; null for a state without one. */
  readonly budget: Budget | null;
}
