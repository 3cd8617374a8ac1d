import { length } from "../../preferences/times.ts";

/** A share as people read it; a dash where there is nothing to count. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return "–";
  const isRound = Math.abs(share * 100 - Math.round(share * 100)) < 0.05;
  return `${(share * 100).toFixed(isRound || (share >= 0.1 && share <= 0.99) ? 0 : 1)} %`;
}

/** From seconds. */
export function seconds(value: number | null): string {
  return value === null ? "–" : length(value * 1_000);
}
