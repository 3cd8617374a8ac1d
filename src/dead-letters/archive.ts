import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { isPawlError, messageOf, PawlError } from "../base/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { settleWithin } from "../kernel/time-limit.ts";
import { type RestoredLetters, readOldestLetters, removeArchived, restoreLetters } from "./store/archives.ts";
import { readArchives, readArchivesAround } from "./views/archives.ts";

export type { RestoredLetters };

/** The storage for archived dead letters: files that are written once and read again. */
export interface DeadLetterArchive {
  readonly name: string;
  /** Resolves when the complete file is durable. The same file may be written again. */
  write(name: string, content: Uint8Array): Promise<void>;
  /** Returns the content of a file; throws if it does not exist. */
  read(name: string): Promise<Uint8Array>;
  /** The names of all files, in any order. */
  list(): Promise<readonly string[]>;
}

const lettersInFile = 1_000;
const bytesInFile = 8 * 1024 * 1024;
/** Enough for eight million bytes of letters, or one larger letter. */
const longestFile = 512 * 1024 * 1024;
const linesAtOnce = 200;
const maxFiles = 1_000_000;
const folder = "dead-letters";
/** The timeout for one file, shorter than the lease of the process that archives. */
const limitMs = 2 * 60_000;
const [compress, decompress] = [promisify(gzip), promisify(gunzip)];

/**
 * Writes the oldest letters into one file of the archive, reads it back, and only then deletes them. Returns how many
 * were archived, 0 if none are left. Letters that were decided meanwhile stay.
 */
export async function archiveOldest(
  kernel: Kernel,
  archive: DeadLetterArchive,
  which: { olderThanMs: number | null; limit: number },
): Promise<number> {
  const limit = Math.min(which.limit, lettersInFile);
  const page = { olderThanMs: which.olderThanMs, limit, maxBytes: bytesInFile };
  const letters = await readOldestLetters(kernel.db, page);
  if (letters.length === 0) return 0;
  const content = await compress(letters.map((letter) => `${letter.line}\n`).join(""));
  const sha256 = sha256Of(content);
  const name = nameOf(kernel, sha256);
  try {
    await settleWithin(limitMs, "Writing", () => archive.write(name, content));
    const stored = await settleWithin(limitMs, "Reading", () => archive.read(name));
    if (sha256Of(stored) !== sha256) throw new Error("the stored file differs from what was written");
  } catch (error) {
    throw new PawlError(
      "archive_failed",
      `Dead letters were not archived in ${archive.name}; they stay in the database: ${messageOf(error)}`,
      { archive: archive.name },
      { cause: error },
    );
  }
  await removeArchived(kernel.db, { name, store: archive.name, bytes: content.length, sha256 }, letters);
  kernel.telemetry.log.info(
    { archive: archive.name, file: name, letters: letters.length },
    "Dead letters were archived.",
  );
  return letters.length;
}

/** The time of the file, so that names rise, and the hash to check its content. */
function nameOf(kernel: Kernel, sha256: string): string {
  const day = new Date(kernel.clock.nowMs()).toISOString().slice(0, 10).replaceAll("-", "/");
  return `${folder}/${day}/${kernel.newId()}-${sha256}.jsonl.gz`;
}

const namePattern = /^dead-letters\/\d{4}\/\d\d\/\d\d\/[0-9a-f-]{36}-([0-9a-f]{64})\.jsonl\.gz$/;

function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Which letters to restore: those of files, those with ids, or all that were ever archived. */
export type RestoreWhich =
  | { readonly files: readonly string[] }
  | { readonly ids: readonly string[] }
  | { readonly all: true };

/**
 * Brings letters back from the archive, as they were. The newest files are read first: of a letter that is in several, the
 * last word counts.
 */
export async function restore(
  kernel: Kernel,
  archive: DeadLetterArchive,
  which: RestoreWhich,
): Promise<RestoredLetters & { readonly files: number }> {
  const files = await filesOf(kernel, archive, which);
  const wanted = "ids" in which ? new Set(which.ids) : undefined;
  const sum = { files: files.length, restored: 0, there: 0, gone: 0 };
  const failures: PawlError[] = [];
  for (const file of files) {
    try {
      const lines = (await readFile(archive, file)).filter((line) => wanted?.has(idIn(line)) ?? true);
      for (let from = 0; from < lines.length; from += linesAtOnce) {
        const part = await restoreLetters(kernel.db, lines.slice(from, from + linesAtOnce));
        sum.restored += part.restored;
        sum.there += part.there;
        sum.gone += part.gone;
      }
    } catch (error) {
      if (!isPawlError(error, "archive_damaged") && !isPawlError(error, "archive_unknown")) throw error;
      failures.push(error); // One bad file holds up no other.
    }
  }
  const [first] = failures;
  if (first === undefined) return sum;
  const rest = `${files.length - failures.length} of ${files.length} files were restored, with ${sum.restored} dead letters.`;
  throw new PawlError(first.code, `${first.message} ${rest}`, { ...first.details, ...sum, failed: failures.length });
}

async function filesOf(kernel: Kernel, archive: DeadLetterArchive, which: RestoreWhich): Promise<string[]> {
  if ("files" in which) return [...new Set(which.files)].sort().reverse();
  if ("ids" in which) return (await readArchivesAround(kernel.db, which.ids)).map((one) => one.name);
  // Also files that this database does not know, since it may be a new one.
  const known = (await readArchives(kernel.db, maxFiles)).map((one) => one.name);
  const found = (await listFiles(archive)).filter((name) => namePattern.test(name));
  return [...new Set([...known, ...found])].sort().reverse();
}

async function listFiles(archive: DeadLetterArchive): Promise<readonly string[]> {
  try {
    const names: unknown = await settleWithin(limitMs, "Listing", () => archive.list());
    if (Array.isArray(names)) return names.map(String);
    throw new Error("`list` did not return a list of names");
  } catch (error) {
    throw new PawlError(
      "archive_failed",
      `Could not list the files of ${archive.name}: ${messageOf(error)}`,
      { archive: archive.name },
      { cause: error },
    );
  }
}

async function readFile(archive: DeadLetterArchive, name: string): Promise<string[]> {
  const [, sha256] = namePattern.exec(name) ?? [];
  if (sha256 === undefined)
    throw new PawlError("archive_unknown", `"${name.slice(0, 200)}" is not the name of a file of dead letters.`);
  let content: Uint8Array;
  try {
    content = await settleWithin(limitMs, "Reading", () => archive.read(name));
    if (!(content instanceof Uint8Array)) throw new Error("`read` did not return a Buffer or a Uint8Array");
  } catch (error) {
    const message = `Could not read file ${name} from ${archive.name}: ${messageOf(error)}`;
    throw new PawlError("archive_unknown", message, { file: name }, { cause: error });
  }
  if (sha256Of(content) !== sha256) {
    const message = `File ${name} in ${archive.name} is corrupt: its checksum differs.`;
    throw new PawlError("archive_damaged", message, { file: name });
  }
  const text = await unpack(name, archive, content);
  return text.split("\n").filter((line) => line !== "");
}

async function unpack(name: string, archive: DeadLetterArchive, content: Uint8Array): Promise<string> {
  try {
    return (await decompress(content, { maxOutputLength: longestFile })).toString("utf8");
  } catch (error) {
    const message = `Could not decompress file ${name} in ${archive.name}: ${messageOf(error)}`;
    throw new PawlError("archive_damaged", message, { file: name }, { cause: error });
  }
}

function idIn(line: string): string {
  return (JSON.parse(line) as { id: string }).id;
}
