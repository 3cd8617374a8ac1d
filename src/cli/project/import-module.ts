import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { PawlError } from "../../base/errors.ts";

/** Imports a file of the user's project, TypeScript too. */
export async function importModule(path: string): Promise<Record<string, unknown>> {
  if (/\.[cm]?ts$/.test(path)) await readTypescript(path);
  return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
}

let reads: Promise<void> | undefined;

/**
 * Makes this process read TypeScript: by tsx where the project has it, else by Node itself. It is registered for the
 * whole process and not for one import, because a second copy of Pawl for the config alone would throw errors that
 * `isPawlError` of the first one does not know.
 */
function readTypescript(path: string): Promise<void> {
  reads ??= registerTsx(path);
  return reads;
}

async function registerTsx(path: string): Promise<void> {
  const tsx = findTsx(path) ?? findTsx(import.meta.url);
  if (tsx === undefined) {
    if ((process.features as { typescript?: unknown }).typescript) return;
    throw new PawlError(
      "config_invalid",
      `${path} is TypeScript, which Node ${process.versions.node} cannot read by itself, and tsx is not installed. ` +
        "Install it (npm install --save-dev tsx), use Node 22.18 or newer, or write the config as pawl.config.mjs.",
      { path },
    );
  }
  const [commonjs, modules] = [await import(tsx("./cjs/api")), await import(tsx("./esm/api"))];
  commonjs.register();
  // The tsconfig of the project, if it has one next to the config; that of the current folder is ignored.
  const tsconfig = join(dirname(path), "tsconfig.json");
  modules.register({ tsconfig: existsSync(tsconfig) ? tsconfig : false });
}

/** Resolves an entry point of tsx from a file; undefined if tsx is not installed. */
function findTsx(from: string): ((door: string) => string) | undefined {
  try {
    const manifest = createRequire(from).resolve("tsx/package.json");
    const { exports } = JSON.parse(readFileSync(manifest, "utf8"));
    return (door) => new URL(exports[door].import.default, pathToFileURL(manifest)).href;
  } catch {
    return undefined;
  }
}
