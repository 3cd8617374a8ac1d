import { messageOf } from "../base/errors.ts";
import { firstIdAt } from "../base/ids.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { runDuty } from "../kernel/maintenance/in-turn.ts";
import { raiseAlert } from "../kernel/recovery/alerts.ts";
import { pruneEndedOperations } from "../operations/run-operations.ts";
import { archiveOldest, type DeadLetterArchive } from "./archive.ts";
import { countLetters } from "./store/archives.ts";
import { countLettersFrom } from "./views/dead-letters.ts";

/** How long dead letters are kept, how many, and from which number an alert is raised. */
export interface RetentionOptions {
  readonly retentionMs: number | null;
  readonly maxRetained: number | null;
  readonly archive: DeadLetterArchive | undefined;
  /** More dead letters than this in one day (UTC) raise an alert, once. */
  readonly alertOver: number | null;
}

/** Longer than archiving may take. */
const heldMs = 5 * 60_000;
const restMs = 60_000;
const dayMs = 86_400_000;

/**
 * One round, in one process at a time: raises the alert about many letters, and archives old or surplus ones. Returns
 * how many were archived.
 */
export function enforceRetention(kernel: Kernel, keeping: RetentionOptions): Promise<number> {
  return runDuty(kernel, "dead_letters", { heldMs, restMs }, async () => {
    await alertAboutMany(kernel, keeping);
    await pruneEndedOperations(kernel);
    return archiveSurplus(kernel, keeping);
  });
}

async function archiveSurplus(kernel: Kernel, keeping: RetentionOptions): Promise<number> {
  const { archive, retentionMs, maxRetained } = keeping;
  if (archive === undefined) return 0;
  try {
    const aged =
      retentionMs === null ? 0 : await archiveOldest(kernel, archive, { olderThanMs: retentionMs, limit: fileSize });
    if (aged > 0 || maxRetained === null) return aged;
    const surplus = (await countLetters(kernel.db, maxRetained + fileSize)) - maxRetained;
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

async function alertAboutMany(kernel: Kernel, { alertOver }: RetentionOptions): Promise<void> {
  if (alertOver === null) return;
  const day = dayOf(kernel);
  const since = Math.floor(kernel.clock.nowMs() / dayMs) * dayMs;
  if ((await countLettersFrom(kernel.db, firstIdAt(since), alertOver + 1)) <= alertOver) return;
  const message = `More than ${alertOver} dead letters were written on ${day}. Run \`pawl dead --groups\` to see their causes.`;
  const details = { day, over: alertOver };
  const isNew = await raiseAlert(kernel, { kind: "many_dead_letters", cause: `dead_letters:${day}`, message, details });
  if (isNew) kernel.telemetry.log.error(details, message);
}

/** The day by the database's clock. */
function dayOf(kernel: Kernel): string {
  return new Date(kernel.clock.nowMs()).toISOString().slice(0, 10);
}
