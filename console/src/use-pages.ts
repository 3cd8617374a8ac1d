import { useEffect, useState } from "preact/hooks";
import type { Requested } from "./use-request.ts";
import { useRequest } from "./use-request.ts";

export interface Pages<Row> extends Requested<readonly Row[]> {
  /** Fetches the next page; undefined when the last one was not full. */
  readonly more: (() => void) | undefined;
}

/**
 * Loads rows page by page: `ask` gets the id of the last row, and returns the next ones. The first page is loaded again
 * when a dependency changes.
 */
export function usePages<Row>(
  ask: (after: string | undefined) => Promise<readonly Row[]>,
  { size, idOf, dependsOn }: { size: number; idOf: (row: Row) => string; dependsOn: readonly unknown[] },
): Pages<Row> {
  const [pages, setPages] = useState(1);
  const asked = useRequest(async () => {
    const rows: Row[] = [];
    for (let page = 0; page < pages; page += 1) {
      const last = rows.at(-1);
      const next = await ask(last === undefined ? undefined : idOf(last));
      rows.push(...next);
      if (next.length < size) break;
    }
    return rows as readonly Row[];
  }, [...dependsOn, pages]);
  useEffect(() => setPages(1), dependsOn);
  const isFull = asked.answer !== undefined && asked.answer.length >= pages * size;
  return { ...asked, more: isFull ? () => setPages(pages + 1) : undefined };
}
