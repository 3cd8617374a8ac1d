/** A value within another one. */
export interface FoundValue {
  /** Such as `rows.12.name`. */
  readonly path: string;
  readonly value: unknown;
}

/** The values, up to a number, whose path or text contains a text, in whichever case. */
export function searchJson(
  value: unknown,
  text: string,
  most: number,
): { readonly found: readonly FoundValue[]; readonly more: boolean } {
  const wanted = text.trim().toLowerCase();
  const found: FoundValue[] = [];
  const walk = (part: unknown, path: string): boolean => {
    if (typeof part === "object" && part !== null)
      return Object.entries(part).every(([name, each]) => walk(each, path === "" ? name : `${path}.${name}`));
    const isFound = path.toLowerCase().includes(wanted) || String(part).toLowerCase().includes(wanted);
    if (isFound) found.push({ path, value: part });
    return found.length <= most;
  };
  walk(value, "");
  return { found: found.slice(0, most), more: found.length > most };
}
