import { Link } from "wouter-preact";
import { copy } from "../copy.ts";
import { Icon } from "./icon.tsx";

export interface IdProps {
  readonly id: string;
  /** Where it leads. */
  readonly href?: string | undefined;
  /** All of it, also where it is long. */
  readonly whole?: boolean;
}

/** An id that is copied on click. Long ones are shown by their end, which distinguishes time-ordered ids. */
export function Id({ id, href, whole = false }: IdProps) {
  const shown = whole || id.length <= 14 ? id : `…${id.slice(-8)}`;
  return (
    <span class={whole ? "id whole" : "id"} title={id}>
      {href === undefined ? <span>{shown}</span> : <Link href={href}>{shown}</Link>}
      <button type="button" class="bare" aria-label={`Copy ${id}`} onClick={() => void copy(id, "Id copied")}>
        <Icon name="copy" />
      </button>
    </span>
  );
}
