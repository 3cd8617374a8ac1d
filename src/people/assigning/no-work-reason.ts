import type { QueueSettings } from "../../definition/queue-settings.ts";
import type { ExclusionCounts } from "./queue-scan.ts";

/** Explains as a sentence and as data why there is no sample for a labeler. */
export interface NoWorkReason {
  readonly code: "queue_inactive" | "labeler_inactive" | "not_eligible" | "nothing_waits" | "nothing_for_you";
  /** "Queue `essays` has no sample for you now: 4 are assigned to others, 2 you have done." */
  readonly sentence: string;
  /** Assignments of other labelers; at most 1,000 are counted. */
  readonly heldByOthers: number;
  /** Samples that only others can get: you have labeled them, skipped them, or been assigned them too often. */
  readonly done: number;
  readonly skipped: number;
  readonly tooOften: number;
}

export const maxHeldCounted = 1_000;

const none = { heldByOthers: 0, done: 0, skipped: 0, tooOften: 0 };

export function inactiveQueue(queue: string): NoWorkReason {
  return { code: "queue_inactive", sentence: `Queue \`${queue}\` is inactive: it makes no new assignments.`, ...none };
}

/** Returns why a labeler cannot work on a queue, if so. */
export function whyNotEligible(
  queue: string,
  settings: Pick<QueueSettings, "labelers" | "skills">,
  labeler: string,
  known: { readonly active: boolean; readonly skills: readonly string[] } | null,
): NoWorkReason | undefined {
  if (known?.active === false) {
    return {
      code: "labeler_inactive",
      sentence: `Labeler \`${labeler}\` is inactive and gets no assignments.`,
      ...none,
    };
  }
  if (settings.labelers !== null && !settings.labelers.includes(labeler)) {
    const sentence = `\`${labeler}\` is not a labeler of queue \`${queue}\`.`;
    return { code: "not_eligible", sentence, ...none };
  }
  const missing = settings.skills.filter((skill) => !known?.skills.includes(skill));
  if (missing.length === 0) return undefined;
  const skills = missing.map((skill) => `\`${skill}\``).join(", ");
  return {
    code: "not_eligible",
    sentence: `Queue \`${queue}\` requires skills that \`${labeler}\` lacks: ${skills}.`,
    ...none,
  };
}

/** The scan is complete: no open slot is for this labeler. */
export function noWorkFor(queue: string, tally: ExclusionCounts, heldByOthers: number): NoWorkReason {
  const parts = [
    counted(heldByOthers, "is assigned to others", "are assigned to others"),
    counted(tally.done, "you have done", "you have done"),
    counted(tally.skipped, "you have skipped", "you have skipped"),
    counted(tally.tooOften, "was assigned to you too often", "were assigned to you too often"),
  ].filter((one) => one !== undefined);
  if (parts.length === 0) {
    return { code: "nothing_waits", sentence: `No samples are waiting in queue \`${queue}\`.`, heldByOthers, ...tally };
  }
  const sentence = `Queue \`${queue}\` has no sample for you now: ${parts.join(", ")}.`;
  return { code: "nothing_for_you", sentence, heldByOthers, ...tally };
}

function counted(count: number, one: string, many: string): string | undefined {
  if (count === 0) return undefined;
  const shown = count >= maxHeldCounted ? `${count.toLocaleString("en")} or more` : String(count);
  return `${shown} ${count === 1 ? one : many}`;
}
