const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const maxSlices = 1_000;
/** Each key of a lane has rows of its own. */
const maxSlicesOfKey = 10;

/** The maximum number of steps that may begin in any window of this length. */
export interface Rate {
  readonly steps: number;
  readonly perMs: number;
  /** The resolution of the recorded starts: a thousand rows cover a window. */
  readonly sliceMs: number;
}

/** Reads a rate such as `"100/m"`, which the definition has checked. */
export function rateOf(text: string, slices = maxSlices): Rate {
  const [steps, unit] = text.split("/") as [string, keyof typeof unitMs];
  const perMs = unitMs[unit];
  // With few steps each beginning has a row of its own moment; with many, some share a row and count until all are past.
  const sliceMs = Number(steps) <= slices ? 1 : perMs / slices;
  return { steps: Number(steps), perMs, sliceMs };
}

/** The rate of each key: exact for rates of up to ten steps; others lose a tenth at most, and are never exceeded. */
export function rateOfKey(text: string): Rate {
  return rateOf(text, maxSlicesOfKey);
}
