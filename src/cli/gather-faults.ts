import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { PawlError } from "../base/errors.ts";
import { readFailure } from "./failure.ts";
import { importModule } from "./import-module.ts";

/**
 * Every broken definition of a project. The `first` one stopped the import of the config, so the files that it is made
 * of are imported one by one, and each tells its own. Of several in one file only the first can be told.
 */
export async function gatherFaults(config: string, first: PawlError): Promise<PawlError[]> {
  const found = new Map([[first.message, first]]); // By their words: a file also tells what those that it imports tell.
  for (const path of filesFrom(config)) {
    const failure = await importModule(path).then(() => undefined, readFailure);
    if (failure?.code === "definition_invalid") found.set(failure.message, failure);
  }
  return [...found.values()];
}

const imports = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+)["']/g;

/** The files of the project that a file imports, and they in turn, innermost first. */
function filesFrom(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file) || !/\.[cm]?[jt]s$/.test(file)) return [];
  seen.add(file);
  const named = [...readFileSync(file, "utf8").matchAll(imports)].map(([, path]) => resolve(dirname(file), path!));
  return [...named.flatMap((path) => filesFrom(existing(path) ?? "", seen)), file];
}

/** TypeScript may say `./essay.js`, or just `./essay`, and mean `./essay.ts`. */
function existing(path: string): string | undefined {
  const written = [path, path.replace(/\.([cm]?)js$/, ".$1ts"), `${path}.ts`, `${path}.js`, `${path}/index.ts`];
  return written.find((each) => /\.[cm]?[jt]s$/.test(each) && existsSync(each));
}
