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

/** The exported names of a file by which an instance or its journal is written, also by way of its private ones. */
export function movers({ declarations }: Scan): string[] {
  const moving = new Set(declarations.filter(({ texts }) => texts.some(isMove)).map(({ name }) => name));
  for (let before = -1; before !== moving.size; ) {
    before = moving.size;
    for (const { name, names } of declarations) if ([...names].some((each) => moving.has(each))) moving.add(name);
  }
  return declarations.filter(({ name, isExported }) => isExported && moving.has(name)).map(({ name }) => name);
}
