/** A field of some labels: what each of them says, and whether they differ. */
export interface ComparedField {
  readonly name: string;
  /** One for each label; empty if the label has nothing there. */
  readonly values: readonly string[];
  readonly differs: boolean;
}

/** Labels field by field. Those that do not count are shown, and make no difference. */
export function compareLabels(
  labels: readonly { readonly value: unknown; readonly counts: boolean }[],
): ComparedField[] {
  const flat = labels.map(({ value }) => new Map(fieldsOf(value, "")));
  const names = [...new Set(flat.flatMap((fields) => [...fields.keys()]))];
  return names.map((name) => {
    const values = flat.map((fields) => fields.get(name) ?? "");
    const counted = values.filter((_, at) => labels[at]!.counts);
    return { name, values, differs: new Set(counted).size > 1 };
  });
}

function fieldsOf(value: unknown, name: string): [string, string][] {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, part]) => fieldsOf(part, name === "" ? key : `${name}.${key}`));
  return [[name === "" ? "Label" : name, written(value)]];
}

function written(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
