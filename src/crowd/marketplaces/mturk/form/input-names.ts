/**
 * How the text of an input becomes a value. It stands in the input's name, behind a colon (`score:number`), since that is
 * all that comes back with an answer: whoever reads it need not know the form that the page was made from.
 */
const kinds = ["optional", "number", "boolean", "json", "lines", "numbers", "list", "else"] as const;

/** A text as it is has none; `else` is the JSON that stands where nothing was filled in. */
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

/** What a name says; one that says nothing of the sort is the name of a text. */
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
