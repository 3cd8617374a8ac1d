import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../test/setup/find-program.ts";

const here = import.meta.dirname;

/** Installs the peers beside this file, where they are no dependencies of Pawl; gives back the Node to run all with. */
export async function installPeers(): Promise<string> {
  const wanted = readPackage(here).dependencies as Record<string, string>;
  const missing = Object.keys(wanted).filter((name) => versionOf(name) !== wanted[name]);
  if (missing.length > 0) {
    process.stderr.write(`installing ${missing.join(", ")}\n`);
    const quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", ["install", ...quiet], { cwd: here, shell: process.platform === "win32" });
  }
  // Some peers need a newer Node than Pawl does. All run on the same one, Pawl too.
  const node = join(here, "node_modules", "node", "bin", "node");
  return existsSync(node) ? node : process.execPath;
}

/** The version of an installed peer. */
export function versionOf(name: string): string | undefined {
  const folder = join(here, "node_modules", name);
  return existsSync(folder) ? String(readPackage(folder).version) : undefined;
}

function readPackage(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
}
