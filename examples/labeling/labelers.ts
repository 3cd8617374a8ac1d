import type { Json } from "pawl";
import { moods, shapes } from "./queues.ts";
import type { Example } from "./samples.ts";

/** A labeler of this example. */
export interface SimulatedLabeler {
  readonly name: string;
  /** How often they read carefully, from 0 to 1. Otherwise they guess. */
  readonly diligence: number;
  /** Does not even guess, but always takes the first choice. */
  readonly takesTheFirst?: boolean;
  /** How many minutes a label takes them. */
  readonly minutes: number;
  /** How often they skip as undecidable, from 0 to 1. */
  readonly skips?: number;
  /** How often they take a sample and do not start it in time, leave after the start, or submit late. */
  readonly dawdles?: number;
  readonly vanishes?: number;
  readonly isLate?: number;
}

export const team: readonly SimulatedLabeler[] = [
  { name: "ada", diligence: 0.98, minutes: 0.7 },
  { name: "ben", diligence: 0.93, minutes: 0.6, vanishes: 0.03 },
  { name: "chloe", diligence: 0.9, minutes: 3 },
  { name: "dina", diligence: 0.8, minutes: 1, skips: 0.2 },
  { name: "eddy", diligence: 0.15, minutes: 1.2 },
  { name: "finn", diligence: 0, takesTheFirst: true, minutes: 1.5 },
  { name: "gus", diligence: 0.9, minutes: 0.8, vanishes: 0.4, dawdles: 0.15 },
  { name: "hana", diligence: 0.95, minutes: 1, isLate: 0.4 },
];

/** How a labeler handles an assignment. */
export type Course = "labels" | "dawdles" | "vanishes" | "is late";

/** The same for the same seed. `time` is how often they have been given that sample. */
export function courseOf(labeler: SimulatedLabeler, key: string, time: number, seed: number): Course {
  const { dawdles = 0, vanishes = 0, isLate = 0 } = labeler;
  const random = randomFrom(`${seed} ${labeler.name} ${key} ${time}`)();
  if (random < dawdles) return "dawdles";
  if (random < dawdles + vanishes) return "vanishes";
  return random < dawdles + vanishes + isLate ? "is late" : "labels";
}

/** The result for a sample: a label, or a skip. */
export type Done = { readonly label: Readonly<Record<string, Json>> } | { readonly skip: string };

/** The values between which a labeler chooses, by field. */
const choices: Readonly<Record<string, readonly Json[]>> = {
  mood: moods,
  urgency: [1, 2, 3, 4, 5],
  shape: shapes,
  count: [1, 2, 3, 4, 5],
};

/** The label of a labeler for a sample: the same for the same seed, in any order of work. */
export function labelBy(labeler: SimulatedLabeler, { key, truth }: Example, seed: number): Done {
  const random = randomFrom(`${seed} ${labeler.name} ${key}`);
  if (random() < (labeler.skips ?? 0.02)) return { skip: "I cannot tell." };
  const fields = Object.entries(truth).map(([field, right]): [string, Json] => {
    const all = choices[field]!;
    if (labeler.takesTheFirst === true) return [field, all[0]!];
    const looks = random() < labeler.diligence;
    const guess = all[Math.floor(random() * all.length)]!;
    return [field, looks ? (field === "urgency" ? nearly(right as number, random()) : right) : guess];
  });
  return { label: Object.fromEntries(fields) };
}

/** Careful labelers, too, may disagree about urgency. */
function nearly(right: number, random: number): number {
  if (random < 0.85) return right;
  return random < 0.925 ? Math.max(1, right - 1) : Math.min(5, right + 1);
}

/** Numbers from 0 to 1 derived from a text. */
function randomFrom(text: string): () => number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
