import { execFile } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

export const run = promisify(execFile);

/** The folders that hold `program`: those of PATH (and the system ones that it often lacks), then `places`. */
export function foldersWith(program: string, places: readonly string[]): string[] {
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const found = [...onPath, "/usr/local/sbin", "/usr/sbin", ...places]
    .map((folder) => join(folder, program))
    .filter((file) => existsSync(file))
    .map((file) => dirname(realpathSync(file)));
  return [...new Set(found)];
}

/** `/usr/lib/postgresql` with "" and "bin": each folder in it, plus `bin`. Nothing where the parent does not exist. */
export function inEach(parent: string, prefix: string, child: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(parent, name, child));
}
