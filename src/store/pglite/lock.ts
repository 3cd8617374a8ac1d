import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, readdir, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { messageOf, PawlError } from "../../base/errors.ts";
import { canonicalPath, ignoreMissing, unusable } from "./folder.ts";

/** The holder of a folder. Stored as JSON in `<folder>.lock`, next to the folder. */
export interface LockHolder {
  /** A unique name of this opening. */
  readonly id: string;
  readonly pid: number;
  /** When the process began, as its system counts it: a number that was given to another process since differs. */
  readonly startedAt: string | null;
  readonly host: string;
  /** The device and the number of the lock file itself: a copy of it, made with its folder, has others. */
  readonly file?: string;
  /** Where the process listens for the CLI. */
  readonly socket?: string;
}

/** `unknown`: the holder runs, or ran, on another machine or in another container. */
export type Liveness = "alive" | "dead" | "unknown";

/** A file that is too young to be called broken may still be in the making. */
const writtenWithinMs = 10_000;

/** The holder of the folder, if any: for the CLI, which talks to that process instead of opening the folder. */
export async function readLock(folder: string): Promise<(LockHolder & { readonly liveness: Liveness }) | undefined> {
  const found = await read(lockPath(await canonicalPath(folder)));
  if (found?.holder === undefined) return undefined;
  return { ...found.holder, liveness: found.isCopy ? "dead" : livenessOf(found.holder) };
}

export class FolderLock {
  readonly #path: string;
  #holder: LockHolder;

  constructor(path: string, holder: LockHolder) {
    this.#path = path;
    this.#holder = holder;
  }

  /** Writes the address of this process for the CLI. */
  async announce(socket: string): Promise<void> {
    this.#holder = { ...this.#holder, socket };
    await replace(this.#path, this.#holder);
  }

  /** Gives the folder back. A lock that is another's by now (its file was removed by hand) stays. */
  async release(): Promise<void> {
    const found = await read(this.#path);
    if (found?.holder?.id === this.#holder.id) await unlink(this.#path).catch(ignoreMissing);
  }
}

/**
 * Locks the folder at `path` (from `locateFolder`) for this process, or refuses and names the holder. The lock of a
 * dead holder is replaced; that of a living holder, or of one that cannot be seen from here, never is.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const path = lockPath(folder);
  const me: LockHolder = { id: randomUUID(), pid: process.pid, startedAt: startOf(process.pid), host: hostname() };
  try {
    for (;;) {
      if (await create(path, me)) break;
      const found = await read(path);
      if (found === undefined) continue; // Released meanwhile.
      refuseUnlessDead(folder, found);
      if (await succeed(path, found, me, folder)) break;
    }
    await removeLeftovers(path);
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw unusable(folder, `its lock file ${path} cannot be written (${messageOf(error)})`, error);
  }
  return new FolderLock(path, me);
}

/**
 * Takes over from a dead holder. Of several processes that found the same holder dead, the one that creates the file
 * named after it continues, and the lock file is replaced atomically: it is never missing, so no other process can
 * interfere. A claim whose maker died, too, is taken over in the same way.
 */
async function succeed(path: string, dead: FoundLock, me: LockHolder, folder: string): Promise<boolean> {
  let claim = `${path}-after-${dead.id}`;
  while (!(await create(claim, me, path))) {
    const rival = await read(claim);
    if (rival === undefined) return false; // It ended meanwhile; check again.
    refuseUnlessDead(folder, rival);
    claim = `${path}-after-${rival.id}`;
  }
  let done = false;
  try {
    // Another process may have taken over, and deleted its claim, between the read of the lock and our claim.
    if ((await read(path))?.id !== dead.id) return false;
    await replace(path, me);
    done = true;
    return true;
  } finally {
    if (!done) await unlink(claim).catch(ignoreMissing);
  }
}

interface FoundLock {
  /** The holder's id or, for an unreadable file, a name derived from the file. */
  readonly id: string;
  /** Undefined when the file cannot be read as a lock. */
  readonly holder: LockHolder | undefined;
  readonly ageMs: number;
  /** It was copied together with its folder: its holder has the original open, and no process has this one. */
  readonly isCopy: boolean;
}

async function read(path: string): Promise<FoundLock | undefined> {
  try {
    const text = await readFile(path, "utf8");
    const { dev, ino, mtimeMs } = await stat(path, { bigint: true });
    const holder = parse(text);
    // Another machine sees other numbers of a shared file.
    const isOurs = holder?.host === hostname() && holder.file !== undefined;
    return {
      id: holder?.id ?? `${ino}-${mtimeMs}`,
      holder,
      ageMs: Math.abs(Date.now() - Number(mtimeMs)),
      isCopy: isOurs && holder.file !== `${dev}:${ino}`,
    };
  } catch (error) {
    return ignoreMissing(error);
  }
}

function parse(text: string): LockHolder | undefined {
  try {
    const value = JSON.parse(text) as Partial<LockHolder> | null;
    const isLock = typeof value?.id === "string" && typeof value.pid === "number" && typeof value.host === "string";
    return isLock ? (value as LockHolder) : undefined;
  } catch {
    return undefined; // Truncated by a system crash, or not a lock file of Pawl.
  }
}

function refuseUnlessDead(folder: string, { holder, ageMs, isCopy }: FoundLock): void {
  if (isCopy) return;
  if (holder === undefined) {
    if (ageMs > writtenWithinMs) return;
    throw locked(folder, "is being opened by another process", "Try again in some seconds.", {});
  }
  const details = { ...holder };
  switch (livenessOf(holder)) {
    case "dead":
      return;
    case "unknown":
      throw locked(
        folder,
        `is open on ${holder.host} in process ${holder.pid}, which cannot be seen from here`,
        `If that machine or container is gone, delete ${lockPath(folder)}; otherwise stop Pawl there.`,
        details,
      );
    case "alive":
      throw locked(
        folder,
        holder.pid === process.pid ? "is open in this very process" : `is open in process ${holder.pid}`,
        holder.pid === process.pid
          ? "Close it first, or use the Pawl that has it open."
          : "Stop that process, talk to it through the `pawl` command, or name another folder. Several processes can share a PostgreSQL server.",
        details,
      );
  }
}

function locked(folder: string, what: string, remedy: string, details: Record<string, unknown>): PawlError {
  return new PawlError("folder_locked", `The database in ${folder} ${what}. ${remedy}`, { folder, ...details });
}

function livenessOf(holder: LockHolder): Liveness {
  if (holder.host !== hostname()) return "unknown";
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return "dead";
  }
  const startedAt = startOf(holder.pid);
  return holder.startedAt === null || startedAt === null || startedAt === holder.startedAt ? "alive" : "dead";
}

/** On Linux, in ticks since boot; elsewhere there is no cheap way, and only the process number is compared. */
function startOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program is in brackets and may hold anything, spaces too.
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

/** Creates a file that is never visible half-written; false if it exists already. */
async function create(path: string, holder: LockHolder, lock = path): Promise<boolean> {
  const draft = await writeDraft(lock, holder);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EEXIST") return false;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error;
    return await createPlainly(path, holder); // A file system without links.
  } finally {
    await unlink(draft).catch(ignoreMissing);
  }
}

async function createPlainly(path: string, holder: LockHolder): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(holder), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function replace(path: string, holder: LockHolder): Promise<void> {
  await rename(await writeDraft(path, holder), path);
}

/**
 * Named after the lock, also if it becomes a claim: the process that takes over deletes all claims, but drafts only of
 * dead processes.
 */
async function writeDraft(lock: string, holder: LockHolder): Promise<string> {
  const draft = `${lock}-draft-${holder.id}`;
  await writeFile(draft, JSON.stringify(holder), { mode: 0o600 });
  // It keeps these when it is linked or renamed.
  const { dev, ino } = await stat(draft, { bigint: true });
  await writeFile(draft, JSON.stringify({ ...holder, file: `${dev}:${ino}` }));
  return draft;
}

/**
 * Deletes files of killed processes. A claim in progress is not harmed, since it will find the lock taken; a draft in
 * progress would be, so only those of dead processes are deleted.
 */
async function removeLeftovers(path: string): Promise<void> {
  for (const name of await readdir(dirname(path))) {
    const file = join(dirname(path), name);
    const isClaim = name.startsWith(`${basename(path)}-after-`);
    const isDraft = name.startsWith(`${basename(path)}-draft-`);
    if (isClaim || (isDraft && isAbandoned(await read(file)))) await unlink(file).catch(ignoreMissing);
  }
}

function isAbandoned(draft: FoundLock | undefined): boolean {
  if (draft?.holder !== undefined) return livenessOf(draft.holder) === "dead";
  return draft !== undefined && draft.ageMs > writtenWithinMs;
}

function lockPath(folder: string): string {
  return `${folder}.lock`;
}
