import type { Scan } from "./scan.ts";

const looksLikeSql = new RegExp(
  [
    "select\\b[\\s\\S]*\\bfrom\\b|select\\s+[\\w.]+\\(",
    "insert\\s+into\\b",
    "update\\s+\\S+\\s+(?:as\\s+\\S+\\s+)?set\\b",
    "delete\\s+from\\b",
    "with\\s+(?:recursive\\s+)?\\S+\\s+as\\b",
    "(?:create|alter|drop)\\s+(?:or\\s+replace\\s+)?(?:unique\\s+)?(?:table|index|schema|database|function|role|trigger)\\b",
    "truncate\\s|(?:un)?listen\\s|notify\\s|lock\\s+table\\b|set\\s+(?:local|session)\\b",
  ]
    .map((form) => `^\\s*(?:${form})`)
    .join("|"),
  "i",
);

const touches = /(?:insert\s+into|update|delete\s+from|merge\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?pawl\./i;
const locks = /\bfor\s+(?:no\s+key\s+update|update|key\s+share|share)\b/i;
const moves = /(?:insert\s+into|update|delete\s+from|merge\s+into)\s+(?:only\s+)?pawl\.(?:instances|journal)\b/i;

export function isSql(text: string): boolean {
  return looksLikeSql.test(text) || touches.test(text);
}

export function writesOrLocks(text: string): boolean {
  return touches.test(text) || (locks.test(text) && isSql(text));
}

/** Writes an instance or its journal: what only a commit may do. */
export function isMove(text: string): boolean {
  return moves.test(text);
}

const declaration = /^(export\s+)?(?:default\s+)?(?:async\s+)?(?:function\*?|const|let|class)\s+([\w$]+)/gm;

/** The exported names of a file by which an instance or its journal is written, also by way of its private ones. */
export function movers(scan: Scan): string[] {
  const starts = [...scan.code.matchAll(declaration)];
  const pieces = starts.map((match, index) => {
    const end = starts[index + 1]?.index ?? scan.code.length;
    const texts = scan.texts.filter((text) => text.offset >= match.index && text.offset < end);
    const name = match[2] ?? "";
    return { name, exported: match[1] !== undefined, code: scan.code.slice(match.index, end), texts };
  });
  const moving = new Set(
    pieces.filter((piece) => piece.texts.some((text) => isMove(text.text))).map((piece) => piece.name),
  );
  for (let before = -1; before !== moving.size; ) {
    before = moving.size;
    for (const piece of pieces) {
      if ([...moving].some((name) => new RegExp(`(?<![\\w$.])${name}(?![\\w$])`).test(piece.code)))
        moving.add(piece.name);
    }
  }
  return pieces.filter((piece) => piece.exported && moving.has(piece.name)).map((piece) => piece.name);
}
