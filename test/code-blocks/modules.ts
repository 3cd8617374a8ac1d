import type { CodeBlock } from "./extract.ts";

/** A block as a module that the compiler reads. The text stays as it is printed, on its own lines. */
export interface BlockModule {
  readonly name: string;
  readonly block: CodeBlock;
  readonly text: string;
}

/** Where the names come from that a block without imports may use. */
export type Exports = ReadonlyMap<string, string>;

/**
 * What a block needs beside its own text:
 * - A block with imports is a program: it imports what it uses of Pawl.
 * - Any other block may use every export of Pawl, and what earlier blocks of the same page have declared.
 * - A block that begins with a key is a part of an object: of the one that has such a key, or of the states of a lifecycle.
 * - What is not Pawl's (`carrier`, `mailer`, `tx`) is declared in `ambient.ts`.
 */
export function modulesOf(blocks: readonly CodeBlock[], exports: Exports): BlockModule[] {
  const declaredIn = new Map<string, Map<string, string>>();
  return blocks.map((block) => {
    const name = `${block.file.replaceAll(/[^a-zA-Z0-9]+/g, "-")}-${block.line}`;
    const own = declarations(block.text);
    const earlier = declaredIn.get(block.file) ?? new Map<string, string>();
    const imports: string[] = [];
    const used = (word: string) =>
      !own.has(word) && new RegExp(`(?<![.\\w"'/-])${word}(?![\\w"'-])(?!:)`).test(code(block.text));
    for (const [word, from] of earlier) if (used(word)) imports.push(`import { ${word} } from "./${from}.ts";`);
    if (!/^import /m.test(block.text)) {
      for (const [word, from] of exports)
        if (used(word) && !earlier.has(word)) imports.push(`import { ${word} } from "${from}";`);
    }
    const part = /^(\w+): /.exec(block.text)?.[1];
    const [before, after] = part === undefined ? ["", ""] : around(part);
    if (part !== undefined && !imports.some((line) => line.includes("{ lifecycle }"))) {
      imports.push('import { createPawl, lifecycle, queue } from "pawl";');
    }
    const hidden = [...own].filter((word) => !new RegExp(`^export .*\\b${word}\\b`, "m").test(block.text));
    if (part === undefined) {
      for (const word of own) earlier.set(word, name);
      declaredIn.set(block.file, earlier);
    }
    const rest = part === undefined && hidden.length > 0 ? `export { ${hidden.join(", ")} };` : "export {};";
    return { name, block, text: `${imports.join(" ")} ${before}\n${block.text}\n${after} ${rest}\n` };
  });
}

/** What is around a part of an object, by its first key. */
function around(key: string): [before: string, after: string] {
  if (key === "alerts") return ["void createPawl({ lifecycles: [],", "});"];
  if (key === "rules") return ["queue('part', { label: partLabel,", "});"];
  if (key === "recovery")
    return ["lifecycle('part', { data: partData, initial: 'end', states: { end: { final: 'success' } },", "});"];
  const state = "lifecycle('part', { data: partData, initial: 'end', states: { ...partEnds,";
  if (key === "retry") return [`${state} working: { run: () => {}, on: { done: 'end' },`, "} } });"];
  return [state, "} });"];
}

/** Without what is in comments. */
function code(text: string): string {
  return text.replaceAll(/(?<!:)\/\/.*$/gm, "");
}

/** The names that a block declares at its top, but no types: they are imported as values. */
function declarations(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, name] of text.matchAll(/^(?:export )?(?:const|let|async function|function|class) (\w+)/gm))
    names.add(name!);
  for (const [, list] of text.matchAll(/^(?:export )?const [{[] ?([\w, :]+?) ?[}\]] =/gm)) {
    for (const one of list!.split(",")) names.add(one.split(":").at(-1)!.trim());
  }
  return names;
}
