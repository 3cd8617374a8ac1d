import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";

export interface TileProps {
  readonly name: string;
  readonly value: ComponentChildren;
  /** A word more, such as since when. */
  readonly note?: ComponentChildren;
  readonly href?: string | undefined;
  readonly tone?: "good" | "warn" | "bad" | undefined;
}

/** One important number, with a link to what it counts. */
export function Tile({ name, value, note, href, tone }: TileProps) {
  const inside = (
    <>
      <span class="tile-name">{name}</span>
      <span class="tile-value">{value}</span>
      <span class="tile-note">{note}</span>
    </>
  );
  const look = tone === undefined ? "tile" : `tile ${tone}`;
  return href === undefined ? (
    <div class={look}>{inside}</div>
  ) : (
    <Link class={look} href={href}>
      {inside}
    </Link>
  );
}

/** As people read it: 1,204. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : value.toLocaleString("en");
}
