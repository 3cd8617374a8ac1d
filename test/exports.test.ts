import { join } from "node:path";
import { expect, test } from "vitest";
import { Modules } from "./package/exports.ts";
import { entries } from "./setup/entries.ts";

const root = join(import.meta.dirname, "..");

test("the exports of every entry point are those that are listed", async () => {
  const modules = new Modules(".ts");
  const sections = Object.entries(entries).map(([entry, path]) => {
    const names = modules.exportsOf(join(root, path));
    return [entry, ...names.map((name) => `  ${name}`)].join("\n");
  });
  await expect(`${sections.join("\n\n")}\n`).toMatchFileSnapshot("package/exports.txt");
});

test.each(Object.entries(entries))("%s exports at run time what its source says", async (_entry, path) => {
  const listed = new Modules(".ts").exportsOf(join(root, path)).filter((name) => !name.startsWith("type "));
  const found = Object.keys((await import(join(root, path))) as object);
  expect(found.sort()).toEqual(listed.sort());
});
