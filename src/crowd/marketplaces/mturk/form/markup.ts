/** A piece of HTML that is as it should be. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = string | number | boolean | Markup | readonly Piece[];

/** HTML in which everything that is put in is escaped, unless it is HTML itself. False puts in nothing. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(parts.map((part, index) => part + written(pieces[index] ?? "")).join(""));
}

function written(piece: Piece): string {
  if (piece instanceof Markup) return piece.text;
  if (piece === false) return "";
  return typeof piece === "object" ? piece.map(written).join("") : escaped(String(piece));
}

const marks: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => marks[mark]!);
}
