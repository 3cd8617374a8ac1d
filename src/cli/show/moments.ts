import type { Paint } from "./terminal.ts";

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** A length of time in its largest unit: 3d, 4h, 12m, 8s. */
export function roughly(ms: number): string {
  const [unit, size] = units.find(([, each]) => ms >= each) ?? ["s", 1_000];
  return `${Math.floor(ms / size)}${unit}`;
}

export function ago(moment: string): string {
  const ms = Date.now() - Date.parse(moment);
  return ms < 1_000 ? "now" : `${roughly(ms)} ago`;
}

export function fromNow(moment: string): string {
  const ms = Date.parse(moment) - Date.now();
  return ms < 1_000 ? "now" : `in ${roughly(ms)}`;
}

/** A moment that may not be there. */
export function when(moment: string | null | undefined, shown: (moment: string) => string, paint: Paint): string {
  return moment === null || moment === undefined ? paint.dim("–") : shown(moment);
}
