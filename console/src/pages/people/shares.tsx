import { length } from "../../times.ts";

/** A share as people read it; a dash where there is nothing to count. */
export function percent(share: number | null | undefined): string {
  return share === null || share === undefined
    ? "–"
    : `${(share * 100).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)} %`;
}

/** From seconds. */
export function seconds(value: number | null): string {
  return value === null ? "–" : length(value * 1_000);
}
