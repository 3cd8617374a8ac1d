import { useMemo } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";

/** The filters of a page, which are in its URL, and functions to change them: a shared link shows the same. */
export function useFilters(): [
  URLSearchParams,
  (changes: Readonly<Record<string, string | readonly string[]>>) => void,
] {
  const search = useSearch();
  const [path, go] = useLocation();
  const filters = useMemo(() => new URLSearchParams(search), [search]);
  const change = (changes: Readonly<Record<string, string | readonly string[]>>) => {
    const next = new URLSearchParams(filters);
    for (const [name, value] of Object.entries(changes)) {
      next.delete(name);
      for (const one of [value].flat()) if (one !== "") next.append(name, one);
    }
    const text = next.toString();
    go(text === "" ? path : `${path}?${text}`, { replace: true });
  };
  return [filters, change];
}
