import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { PawlError } from "../base/errors.ts";
import { checkedOptions } from "../base/options.ts";
import type { DeadLetterArchive } from "./archive.ts";

/**
 * Archives dead letters in a folder, as compressed JSON lines. A file gets its name only when it is complete and
 * durable; the name contains its SHA-256.
 *
 * ```ts
 * createPawl({ lifecycles, deadLetters: { archive: folderArchive("/var/lib/pawl/archive") } });
 * ```
 */
export function folderArchive(folder: string, options: { readonly name?: string } = {}): DeadLetterArchive {
  if (typeof folder !== "string" || folder === "") {
    throw new PawlError("option_invalid", "`folderArchive` needs the path of a folder.");
  }
  checkedOptions(options, ["name"], "folderArchive");
  const root = resolve(folder);
  const pathOf = (name: string): string => {
    const path = resolve(root, name);
    if (path.startsWith(root + sep)) return path;
    throw new PawlError("option_invalid", `"${name.slice(0, 200)}" is not a file in ${root}.`);
  };
  return {
    name: options.name ?? `folder ${root}`,
    async write(name, content) {
      const path = pathOf(name);
      await mkdir(dirname(path), { recursive: true });
      await writeWhole(path, content);
    },
    read: async (name) => readFile(pathOf(name)),
    async list() {
      try {
        const found = await readdir(root, { recursive: true, withFileTypes: true });
        const files = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
        return files.map((path) => relative(root, path).replaceAll(sep, "/"));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
      }
    },
  };
}

/**
 * Writes under another name first, and syncs the folder, too: after a power failure there is the complete file or none.
 */
async function writeWhole(path: string, content: Uint8Array): Promise<void> {
  const unfinished = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(unfinished, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
