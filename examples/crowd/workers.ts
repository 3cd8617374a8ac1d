import type { Json } from "pawl";
import { chance } from "../chance.ts";
import { type Paper, round } from "./papers.ts";

/** A worker of the marketplace. */
export interface SimulatedWorker {
  readonly name: string;
  /** How often they read carefully, from 0 to 1. Otherwise they type some digits. */
  readonly care: number;
  /** How often they return or abandon a receipt, from 0 to 1. */
  readonly returns?: number;
  readonly vanishes?: number;
  /** How often they type "12.84 EUR" instead of a number. */
  readonly writesText?: number;
}

export const team: readonly SimulatedWorker[] = [
  { name: "W-ADA", care: 1 },
  { name: "W-BEN", care: 0.95 },
  { name: "W-CEM", care: 0.9, vanishes: 0.25 },
  { name: "W-DOT", care: 1, returns: 0.4 },
  { name: "W-EVA", care: 0.4 },
  { name: "W-FLO", care: 0.2 },
  { name: "W-GIL", care: 1, writesText: 0.4 },
  { name: "W-HAL", care: 0.95 },
  { name: "W-IDA", care: 1 },
  { name: "W-JON", care: 0.9, returns: 0.2 },
];

/** A worker's action on a receipt. */
export type Course = { readonly submits: Json } | "returns" | "vanishes";

/** The same for the same seed. */
export function courseOf(worker: SimulatedWorker, paper: Paper, seed: number): Course {
  const { returns = 0, vanishes = 0, writesText = 0 } = worker;
  const luck = chance(seed, worker.name, paper.key, "course");
  if (luck < returns) return "returns";
  if (luck < returns + vanishes) return "vanishes";
  if (chance(seed, worker.name, paper.key, "text") < writesText) {
    return { submits: { total: `${paper.total.toFixed(2)} EUR`, tax: paper.tax } };
  }
  const isCareful = paper.isSmudged !== true && chance(seed, worker.name, paper.key, "care") < worker.care;
  // A voucher is read by everybody: there is nothing on it.
  if (isCareful || paper.total === 0) return { submits: { total: paper.total, tax: paper.tax } };
  const digits = 1 + Math.floor(chance(seed, worker.name, paper.key, "digits") * 8);
  return { submits: { total: round(paper.total + digits * 10), tax: paper.tax } };
}
