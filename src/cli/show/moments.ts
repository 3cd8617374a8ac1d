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

/** A length of time in its two largest units: 2d 23h, 4m 10s, 8s. */
export function precisely(ms: number): string {
  const at = units.findIndex(([, each]) => ms >= each);
  const smaller = units[at + 1];
  const rest = smaller === undefined ? 0 : Math.floor((ms % units[at]![1]) / smaller[1]);
  return at === -1 || rest === 0 ? roughly(ms) : `${roughly(ms)} ${rest}${smaller![0]}`;
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
