/** A value as JSON with sorted keys, so that equal values have equal texts. Never fails. */
export function stableText(value: unknown): string {
  try {
    return JSON.stringify(value, (_, one: unknown) => ordered(one)) ?? String(value);
  } catch {
    return String(value); // A cycle or a bigint, which no stored value holds.
  }
}

function ordered(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || "toJSON" in value) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
