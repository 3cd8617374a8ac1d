import { messageOf } from "../base/errors.ts";
import { firstIdAt } from "../base/ids.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { raiseAlert } from "../kernel/recovery/alerts.ts";
import { endSweep, takeSweep } from "../store/move/sweeps.ts";
import { countLettersFrom } from "../views/dead-letters.ts";
import { archiveOldest, type DeadLetterArchive } from "./archive.ts";
import { tidyOperations } from "./run-operations.ts";
import { countLetters } from "./store/archives.ts";

/** How long dead letters are kept, how many, and when people are told that they are too many. */
export interface LetterKeeping {
  readonly keepMs: number | null;
  readonly keepMost: number | null;
  readonly archive: DeadLetterArchive | undefined;
  /** More than so many in one day (UTC) are told, once. */
  readonly alertOver: number | null;
}

const turn = { lifecycle: "pawl", state: "dead_letters" };
/** Whoever has the turn and dies loses it after so long. */
const heldMs = 5 * 60_000;
const restMs = 60_000;
const dayMs = 86_400_000;
const noPlace = "00000000-0000-0000-0000-000000000000";

/** What a look at the dead letters brought. */
export interface Kept {
  readonly archived: number;
  /** More are to be archived. */
  readonly more: boolean;
}

/** One look, of one process at a time: tells when there are many, and archives what is too old or too much. */
export async function keepLetters(kernel: Kernel, keeping: LetterKeeping): Promise<Kept> {
  if ((await takeSweep(kernel.db, turn, heldMs)) === undefined) return { archived: 0, more: false };
  let more = false;
  try {
    await tellOfMany(kernel, keeping);
    await tidyOperations(kernel);
    const archived = await archiveSurplus(kernel, keeping);
    more = archived > 0;
    return { archived, more };
  } finally {
    await endSweep(kernel.db, turn, { place: noPlace, afterMs: more ? 0 : restMs });
  }
}

async function archiveSurplus(kernel: Kernel, keeping: LetterKeeping): Promise<number> {
  const { archive, keepMs, keepMost } = keeping;
  if (archive === undefined) return 0;
  try {
    const aged = keepMs === null ? 0 : await archiveOldest(kernel, archive, { olderThanMs: keepMs, limit: fileSize });
    if (aged > 0 || keepMost === null) return aged;
    const surplus = (await countLetters(kernel.db, keepMost + fileSize)) - keepMost;
    return surplus <= 0 ? 0 : await archiveOldest(kernel, archive, { olderThanMs: null, limit: surplus });
  } catch (error) {
    const cause = `archive_failed:${archive.name}:${dayOf(kernel)}`;
    await raiseAlert(kernel, {
      kind: "archive_failed",
      cause,
      message: messageOf(error),
      details: { archive: archive.name },
    });
    throw error;
  }
}

const fileSize = 1_000;

async function tellOfMany(kernel: Kernel, { alertOver }: LetterKeeping): Promise<void> {
  if (alertOver === null) return;
  const day = dayOf(kernel);
  const since = Math.floor(kernel.clock.nowMs() / dayMs) * dayMs;
  if ((await countLettersFrom(kernel.db, firstIdAt(since), alertOver + 1)) <= alertOver) return;
  const message = `More than ${alertOver} dead letters were written on ${day}. See \`pawl dead --groups\` for what they have in common.`;
  const details = { day, over: alertOver };
  const isNew = await raiseAlert(kernel, { kind: "many_dead_letters", cause: `dead_letters:${day}`, message, details });
  if (isNew) kernel.telemetry.log.error(details, message);
}

/** The day by the database's clock. */
function dayOf(kernel: Kernel): string {
  return new Date(kernel.clock.nowMs()).toISOString().slice(0, 10);
}
