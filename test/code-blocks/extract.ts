import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** A block of TypeScript as it is printed in a page or a doc comment. */
export interface CodeBlock {
  /** The file, relative to the repository. */
  readonly file: string;
  /** Where its first line is in the file. */
  readonly line: number;
  readonly text: string;
}

export function codeBlocks(root: string): CodeBlock[] {
  const within = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file));
  const pages = ["README.md", ...within("docs/guides").filter((file) => file.endsWith(".md"))];
  const sources = within("src").filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  return [...pages, ...sources].sort().flatMap((file) => blocksOf(root, join(root, file)));
}

function blocksOf(root: string, path: string): CodeBlock[] {
  const file = relative(root, path);
  const prefix = file.endsWith(".md") ? /^/ : /^\s*\* ?/;
  const blocks: CodeBlock[] = [];
  let open: { line: number; lines: string[] } | undefined;
  for (const [index, whole] of readFileSync(path, "utf8").split("\n").entries()) {
    const line = whole.replace(prefix, "");
    if (open === undefined) {
      if (line === "```ts" && (prefix.test(whole) || file.endsWith(".md"))) open = { line: index + 2, lines: [] };
    } else if (line === "```") {
      blocks.push({ file, line: open.line, text: open.lines.join("\n") });
      open = undefined;
    } else open.lines.push(line);
  }
  return blocks;
}
