import { type Param, Part, textArray } from "./db.ts";

/** A column of a batch: its type in Postgres, and where a row has it. */
type Column<Row> = readonly [type: string, of: (row: Row) => Param | undefined];

/**
 * Rows as a table inside a statement: `from ${moves(rows)}`, one list per column. A value that is equal in all rows is
 * sent once, with an empty list, which `unnest` fills with nulls: most columns of a batch are constant, and need not be
 * written, sent and read a thousand times. The first column gives the number of rows.
 */
export function batch<Row>(
  name: string,
  columns: Readonly<Record<string, Column<Row>>>,
): (rows: readonly Row[]) => Part {
  const names = Object.keys(columns);
  const [first, ...others] = Object.values(columns);
  const strings = textsOf(
    name,
    names,
    Object.values(columns).map(([type]) => type),
  );
  return (rows) => {
    const same: Param[] = [];
    const lists: Param[] = [textArray(rows.map(first![1]))];
    for (const [, of] of others) {
      const value = sameInAll(rows, of);
      same.push(value === undefined ? null : value);
      lists.push(value === undefined ? textArray(rows.map(of)) : "{}");
    }
    return new Part(strings, [...same, ...lists]);
  };
}

/** The value that all rows have; undefined when they differ. */
function sameInAll<Row>(rows: readonly Row[], of: Column<Row>[1]): Param | undefined {
  const value = of(rows[0]!) ?? null;
  for (let index = 1; index < rows.length; index++) if ((of(rows[index]!) ?? null) !== value) return undefined;
  return value;
}

/** The text around the values: one for each column but the first, then all lists. */
function textsOf(name: string, names: readonly string[], types: readonly string[]): TemplateStringsArray {
  const strings: string[] = [];
  let text = `(select each.${names[0]}`;
  for (let index = 1; index < names.length; index++) {
    strings.push(`${text}, coalesce(each.${names[index]}, `);
    text = `::${types[index]}) as ${names[index]}`;
  }
  text += " from unnest(";
  for (const [index, type] of types.entries()) {
    strings.push(`${text}(select `);
    text = `::text)::${type}[]${index < types.length - 1 ? ", " : ""}`;
  }
  strings.push(`${text}) as each(${names.join(", ")})) as ${name}`);
  return Object.assign(strings, { raw: strings });
}
