import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { messageOf, PawlError } from "../../base/errors.ts";

/** The Postgres that PGlite carries. Its major version decides which folders it can read. */
export const bundledMajor = 18;

/** Present from before the first file is made until all of them are on the disk. */
const unfinished = "PAWL_UNFINISHED";
/** Signed by a server with the number of its process, by PGlite with a negative one. */
const signature = "postmaster.pid";

export type FolderState = "new" | "unfinished" | "database";

/** The one path of a folder, however it was named, so that two names of it meet at the same lock. */
export async function canonicalPath(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    return await realpath(path);
  } catch {
    // Not made yet; the folder above it may be reached through a link, too.
    return join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
  }
}

/** Makes the folders above `folder`, and gives its one path. */
export async function locateFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    await mkdir(dirname(path), { recursive: true });
    const found = await stat(path).catch(ignoreMissing);
    if (found !== undefined && !found.isDirectory()) throw unusable(path, "it is a file, not a folder");
    return await canonicalPath(path);
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw unusable(path, messageOf(error), error);
  }
}

/** Inspects a folder; throws if it is not a database of Pawl, and changes nothing. */
export function inspectFolder(path: string): FolderState {
  let names: string[];
  try {
    names = existsSync(path) ? readdirSync(path) : [];
    if (names.length === 0) return "new";
    if (names.includes(unfinished)) return "unfinished";
    if (names.includes("PG_VERSION")) checkVersion(path, readFileSync(join(path, "PG_VERSION"), "utf8").trim());
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw unusable(path, messageOf(error), error);
  }
  if (!names.includes("PG_VERSION")) {
    throw unusable(path, `it holds something else (${names.slice(0, 3).join(", ")}), which was left untouched`);
  }
  if (names.includes(signature) && /^\d/.test(readFileSync(join(path, signature), "utf8"))) {
    throw unusable(path, "it belongs to a PostgreSQL server; give Pawl the server's URL instead");
  }
  return "database";
}

function checkVersion(path: string, major: string): void {
  if (major === String(bundledMajor)) return;
  throw new PawlError(
    "folder_unusable",
    `The folder ${path} was made by PostgreSQL ${major}, and this Pawl carries PostgreSQL ${bundledMajor}, which cannot read it. ` +
      "Open it with the version of Pawl that created it and export its data, or use another folder.",
    { folder: path, made: major, carried: String(bundledMajor) },
  );
}

/**
 * Creates an empty folder, or clears one whose first start was interrupted. Until `finishFolder`, a marker file says
 * that it contains nothing of value, so the process may be killed at any point.
 */
export async function beginFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const note = "Pawl is creating a database here. A start that finds this file starts over.\n";
    writeFileSync(join(path, unfinished), note);
    syncFile(join(path, unfinished));
    syncFolder(path);
    for (const name of readdirSync(path)) {
      if (name !== unfinished) rmSync(join(path, name), { recursive: true });
    }
  } catch (error) {
    throw unusable(path, messageOf(error), error);
  }
}

/**
 * Deletes the pid file of an ended process. A truncated one, after a system crash, would keep Postgres from starting.
 */
export function removeSignature(path: string): void {
  rmSync(join(path, signature), { force: true });
}

/** Brings all of a new database to the disk, and only then takes the sign away. */
export function finishFolder(path: string): void {
  syncTree(path);
  rmSync(join(path, unfinished));
  syncFolder(path);
  syncFolder(dirname(path));
}

function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) syncTree(path);
    else syncFile(path);
  }
  syncFolder(folder);
}

function syncFile(path: string, flags = "r+"): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs the names in a folder to the disk; Windows does that by itself. */
function syncFolder(path: string): void {
  if (process.platform !== "win32") syncFile(path, "r");
}

export function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}

export function unusable(path: string, reason: string, cause?: unknown): PawlError {
  return new PawlError(
    "folder_unusable",
    `The folder ${path} cannot hold Pawl's database: ${reason}. Use another folder, or fix this one.`,
    { folder: path },
    { cause },
  );
}
