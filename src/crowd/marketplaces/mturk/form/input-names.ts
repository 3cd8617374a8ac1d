/**
 * The type of an input. It is part of the input's name, after a colon (`score:number`), since an answer contains only
 * names and values: it can be read without the form that the page was made from.
 */
const kinds = ["optional", "number", "boolean", "json", "lines", "numbers", "list", "else"] as const;

/** Plain text has none; `else` is the JSON value of an empty input. */
export type Kind = (typeof kinds)[number] | "text";

export interface InputName {
  /** Where in the answer it goes; empty for the answer itself. */
  readonly path: readonly string[];
  readonly kind: Kind;
}

const whole = "$";

/** `address.city`, `score:number`; the answer itself is `$`. */
export function writeName({ path, kind }: InputName): string {
  const place =
    path.length === 0 ? whole : path.map((part) => encodeURIComponent(part).replaceAll(".", "%2E")).join(".");
  return kind === "text" ? place : `${place}:${kind}`;
}

/** Reads a name; without a type it is the name of a text. */
export function readName(name: string): InputName {
  const [, place = name, kind = "text"] = /^(.*):([a-z]+)$/s.exec(name) ?? [];
  if (kind !== "text" && !(kinds as readonly string[]).includes(kind)) return { path: [name], kind: "text" };
  return { path: place === whole ? [] : place.split(".").map(decoded), kind: kind as Kind };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
