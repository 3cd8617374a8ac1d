/** An object of JSON, such as a JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** A name of a program as a person reads it: `first_name` is "First name". */
export function wordsOf(name: string): string {
  const words = name
    .replaceAll(/[_-]+/g, " ")
    .replaceAll(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)
    .trim();
  return words === "" ? name : words[0]!.toUpperCase() + words.slice(1);
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
