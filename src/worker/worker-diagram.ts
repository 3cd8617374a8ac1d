import { loopStates, slotStates, workerMoves } from "./states.ts";

/**
 * Draws the states of every worker for Mermaid: those of its loop and of each slot, with the transitions that `onMove` reports.
 *
 * ```ts
 * console.log(workerDiagram());
 * ```
 */
export function workerDiagram(): string {
  return [
    "stateDiagram-v2",
    ...[...loopStates, ...slotStates].map((state) => `  state ${state}`),
    '  state "any state" as AnyState',
    "  [*] --> Startup",
    ...workerMoves.map(([from, to]) => `  ${from} --> ${to}`),
    "  AnyState --> ErrorWait: unhandled error",
    "",
  ].join("\n");
}
