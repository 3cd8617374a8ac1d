import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { RejectSubmission } from "../src/base/step-errors.ts";
import { checkCrowd } from "../src/crowd/marketplaces/mturk/check-crowd.ts";
import { type AnyCrowd, crowd } from "../src/definition/crowd.ts";
import { queue } from "../src/definition/queue.ts";
import { codeBlocks } from "./code-blocks/extract.ts";
import { type BlockModule, modulesOf } from "./code-blocks/modules.ts";
import { programsOf, runProgram } from "./code-blocks/programs.ts";
import { entries } from "./setup/entries.ts";
import { findTypescript } from "./setup/find-typescript.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** A definition as a page prints it, made. */
function evaluate(call: string): object {
  const given = { crowd, queue, z, isTrained: async () => true, RejectSubmission };
  // oxlint-disable-next-line typescript/no-implied-eval -- the text is that of our own pages.
  return new Function(...Object.keys(given), `return ${call};`)(...Object.values(given)) as object;
}

describe("every block of code in README, guides and doc comments compiles as it is printed", () => {
  let folder: string;
  let modules: BlockModule[];

  beforeAll(async () => {
    const exports = new Map<string, string>();
    for (const [entry, path] of Object.entries(entries)) {
      const names = Object.keys((await import(join(root, path))) as object);
      for (const name of names) if (!exports.has(name)) exports.set(name, entry);
    }
    modules = modulesOf(codeBlocks(root), exports);
    folder = mkdtempSync(join(tmpdir(), "pawl-code-blocks-"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
    mkdirSync(join(folder, "blocks"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    for (const { name, text } of modules) writeFileSync(join(folder, "blocks", `${name}.ts`), text);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("there are blocks in all of them", () => {
    const files = modules.map(({ block }) => block.file);
    expect(files).toContain("README.md");
    expect(files.filter((file) => file.startsWith("docs/guides/")).length).toBeGreaterThan(30);
    expect(files.filter((file) => file.startsWith("src/")).length).toBeGreaterThan(40);
  });

  for (const version of ["installed", "5.9.3"]) {
    test(`with TypeScript ${version}, and so do the tests of the types`, { timeout: 300_000 }, ({ skip }) => {
      const typescript = findTypescript(version) ?? skip(`npm could not bring TypeScript ${version}`);
      const paths = Object.fromEntries(Object.entries(entries).map(([entry, path]) => [entry, [join(root, path)]]));
      const compilerOptions = {
        target: "es2023",
        lib: ["es2023", "es2024.string"],
        module: "nodenext",
        strict: true,
        skipLibCheck: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        types: ["node"],
        paths,
      };
      const files = [
        join(root, "test/code-blocks/ambient.ts"),
        join(root, "src/definition/language/definition-types.types.test.ts"),
        ...modules.map(({ name }) => `blocks/${name}.ts`),
      ];
      const config = join(folder, `tsconfig.${version}.json`);
      writeFileSync(config, JSON.stringify({ compilerOptions, files }));
      const { stdout } = spawnSync(process.execPath, [join(typescript, "bin/tsc"), "-p", config, "--pretty", "false"], {
        encoding: "utf8",
        cwd: folder,
      });
      expect(stdout.split("\n").filter(Boolean).map(place)).toEqual([]);
    });
  }

  test("those that are programs run on the embedded database as they are printed", { timeout: 300_000 }, async () => {
    const programs = programsOf(modules);
    const files = programs.map(({ block }) => block.file);
    expect(files.filter((file) => file === "README.md")).toHaveLength(3);
    expect(files).toEqual(
      expect.arrayContaining(["docs/guides/coming-from.md", "docs/guides/labeling.md", "docs/guides/testing.md"]),
    );
    const paths = Object.fromEntries(Object.entries(entries).map(([entry, path]) => [entry, [join(root, path)]]));
    const config = join(folder, "tsconfig.run.json");
    writeFileSync(config, JSON.stringify({ compilerOptions: { target: "es2023", module: "nodenext", paths } }));
    const failed = await Promise.all(
      programs.map(async (one) => {
        const error = await runProgram(join(folder, "blocks"), one, config);
        return error === "" ? [] : [`${one.block.file}:${one.block.line} ${error}`];
      }),
    );
    expect(failed.flat()).toEqual([]);
  });

  test("definitions of crowds and queues in pages are accepted, by Mechanical Turk too", () => {
    let count = 0;
    for (const { block } of modules) {
      for (const [, name, call] of block.text.matchAll(/^const (\w+) = ((?:crowd|queue)\("[\s\S]*?^\}\));$/gm)) {
        const made = evaluate(call!);
        if ("marketplace" in made && made.marketplace === "mturk") {
          expect(checkCrowd(made as AnyCrowd), `${block.file}:${block.line} ${name}`).toEqual([]);
        }
        count++;
      }
    }
    expect(count).toBeGreaterThan(3);
  });

  /** An error at the place where the block is printed. */
  function place(line: string): string {
    const [, name, row, rest] = /^blocks\/(.*)\.ts\((\d+),\d+\): (.*)$/.exec(line) ?? [];
    const found = modules.find((one) => one.name === name);
    return found === undefined ? line : `${found.block.file}:${found.block.line + Number(row) - 2} ${rest}`;
  }
});
