/** What the rules need to know of a source file, found without a compiler. */
export interface Scan {
  /** The text without comments and without what stands in quotes; lines are where they were. */
  readonly code: string;
  readonly imports: readonly Import[];
  readonly texts: readonly QuotedText[];
}

export interface Import {
  readonly line: number;
  readonly from: string;
  /** The names as the other file gives them; `*` when all may be meant. */
  readonly names: readonly string[];
  readonly typeOnly: boolean;
}

interface QuotedText {
  readonly line: number;
  readonly offset: number;
  /** What stands between the quotes; a `?` for each part that a template puts in. */
  readonly text: string;
  /** The tag of a template. */
  readonly tag: string | undefined;
  /** Made of parts at run time: a template with `${…}`, or a string with a `+` beside it. */
  readonly composed: boolean;
}

export function scan(source: string): Scan {
  const { code, withoutComments, texts } = separate(source);
  return { code, texts, imports: findImports(withoutComments, code) };
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[`{}/]/g;
const regexLiteral = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const templatePiece = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(`|\$\{)/y;

/** Takes comments, strings, templates and regular expressions apart from the code around them. */
function separate(source: string): { code: string; withoutComments: string; texts: QuotedText[] } {
  let code = source;
  let withoutComments = source;
  const texts: QuotedText[] = [];
  const open: { offset: number; braces: number; text: string; composed: boolean }[] = []; // Templates around the place.
  function blank(from: number, to: number): void {
    code = code.slice(0, from) + source.slice(from, to).replace(/[^\n]/g, " ") + code.slice(to);
  }
  function readTemplate(from: number): number {
    const template = open.at(-1)!;
    templatePiece.lastIndex = from;
    const piece = templatePiece.exec(source);
    if (piece === null) return source.length;
    const to = from + piece[0].length;
    blank(from, to);
    const ends = piece[1] === "`";
    template.text += piece[0].slice(0, ends ? -1 : -2);
    template.composed ||= !ends;
    if (ends) {
      open.pop();
      const tag = /([\w$]+)$/.exec(source.slice(0, template.offset))?.[1];
      texts.push({ ...template, line: lineAt(source, template.offset), tag: isKeyword(tag) ? undefined : tag });
    } else {
      template.text += "?";
      template.braces = 0;
    }
    return to;
  }
  token.lastIndex = 0;
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    const [found] = match;
    const from = match.index;
    let to = from + found.length;
    const template = open.at(-1);
    if (found.startsWith("//") || found.startsWith("/*")) {
      blank(from, to);
      withoutComments = withoutComments.slice(0, from) + code.slice(from, to) + withoutComments.slice(to);
    } else if (found.startsWith('"') || found.startsWith("'")) {
      blank(from, to);
      const composed = /^\s*\+/.test(source.slice(to)) || /\+\s*$/.test(source.slice(0, from));
      texts.push({ line: lineAt(source, from), offset: from, text: found.slice(1, -1), tag: undefined, composed });
    } else if (found === "`") {
      open.push({ offset: from, braces: 0, text: "", composed: false });
      blank(from, to);
      to = readTemplate(to);
    } else if (found === "{") {
      if (template !== undefined) template.braces += 1;
    } else if (found === "}") {
      if (template !== undefined && template.braces-- === 0) to = readTemplate(to);
    } else if (startsRegex(code.slice(0, from))) {
      regexLiteral.lastIndex = from;
      to = from + (regexLiteral.exec(source)?.[0].length ?? 1);
      blank(from, to);
    }
    token.lastIndex = to;
  }
  return { code, withoutComments, texts };
}

/** A slash after a value divides; elsewhere it opens a regular expression. */
function startsRegex(before: string): boolean {
  const last = /(?:([\w$]+)|(\S))\s*$/.exec(before);
  if (last === null) return true;
  return last[1] === undefined ? !/[)\]}]/.test(last[2] ?? "") : isKeyword(last[1]);
}

function isKeyword(word: string | undefined): boolean {
  return /^(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield|default)$/.test(word ?? "");
}

const statement =
  /^[ \t]*(?:import|export)\s+(type\s+)?(\*(?:\s+as\s+[\w$]+)?|[\w$]+|(?:[\w$]+\s*,\s*)?(?:\{[^}]*\}|\*\s+as\s+[\w$]+))\s*from\s*["']([^"']+)["']/gm;
const bare = /^[ \t]*import\s*["']([^"']+)["']/gm;
const dynamic = /\b(?:import|require)\s*\(\s*["']([^"']+)["']/g;

/** Of all that reads like one, what is code: the first word of an import in a text is blank there. */
function findImports(text: string, code: string): Import[] {
  const found: Import[] = [];
  const isCode = ({ index, 0: match }: RegExpExecArray) => code.startsWith(/^\s*\w+/.exec(match)![0], index);
  for (const match of text.matchAll(statement)) {
    if (!isCode(match)) continue;
    const [, type, clause = "", from = ""] = match;
    const names = namesOf(clause);
    const typeOnly = type !== undefined || (names.length > 0 && names.every((name) => name.startsWith("type ")));
    const plain = names.map((name) => name.replace(/^type\s+/, ""));
    found.push({ line: lineAt(text, match.index), from, names: plain, typeOnly });
  }
  for (const pattern of [bare, dynamic]) {
    for (const match of text.matchAll(pattern)) {
      if (!isCode(match)) continue;
      found.push({ line: lineAt(text, match.index), from: match[1] ?? "", names: ["*"], typeOnly: false });
    }
  }
  return found;
}

function namesOf(clause: string): string[] {
  const braces = /\{([^}]*)\}/.exec(clause);
  const inBraces = (braces?.[1] ?? "").split(",").map((name) => name.trim().split(/\s+as\s+/)[0] ?? "");
  const names = inBraces.filter((name) => name !== "");
  const outside = clause.replace(/\{[^}]*\}/, "");
  if (outside.includes("*")) names.push("*");
  if (/^[\w$]/.test(outside)) names.push("default");
  return names;
}
