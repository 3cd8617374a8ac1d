import type { QueueSettings } from "../../definition/queue-settings.ts";
import type { Tally } from "./walk.ts";

/** Why there is nothing for a labeler to do, as a sentence and as data. */
export interface NoWorkReason {
  readonly code: "queue_inactive" | "labeler_inactive" | "not_eligible" | "nothing_waits" | "nothing_for_you";
  /** "Nothing in `essays` is for you now: 4 are held by others, 2 you have done." */
  readonly sentence: string;
  /** Assignments that lie on other desks; not counted beyond 1,000. */
  readonly heldByOthers: number;
  /** Samples that others can have and you cannot: you have labeled them, skipped them, or been given them too often. */
  readonly done: number;
  readonly skipped: number;
  readonly tooOften: number;
}

export const mostHeldCounted = 1_000;

const none = { heldByOthers: 0, done: 0, skipped: 0, tooOften: 0 };

export function inactiveQueue(queue: string): NoWorkReason {
  return { code: "queue_inactive", sentence: `The queue \`${queue}\` is inactive: it hands out nothing new.`, ...none };
}

/** Whether somebody may work on a queue; the answer why not, if not. */
export function whyNotEligible(
  queue: string,
  settings: Pick<QueueSettings, "labelers" | "skills">,
  labeler: string,
  known: { readonly active: boolean; readonly skills: readonly string[] } | null,
): NoWorkReason | undefined {
  if (known?.active === false) {
    return { code: "labeler_inactive", sentence: `\`${labeler}\` is inactive, and is given nothing.`, ...none };
  }
  if (settings.labelers !== null && !settings.labelers.includes(labeler)) {
    const sentence = `\`${labeler}\` is not among the labelers of \`${queue}\`.`;
    return { code: "not_eligible", sentence, ...none };
  }
  const missing = settings.skills.filter((skill) => !known?.skills.includes(skill));
  if (missing.length === 0) return undefined;
  const skills = missing.map((skill) => `\`${skill}\``).join(", ");
  return {
    code: "not_eligible",
    sentence: `\`${queue}\` asks for skills that \`${labeler}\` lacks: ${skills}.`,
    ...none,
  };
}

/** Everything that is open was looked at, and nothing is for this labeler. */
export function nothingFor(queue: string, tally: Tally, heldByOthers: number): NoWorkReason {
  const parts = [
    counted(heldByOthers, "is held by others", "are held by others"),
    counted(tally.done, "you have done", "you have done"),
    counted(tally.skipped, "you have skipped", "you have skipped"),
    counted(tally.tooOften, "was given to you too often", "were given to you too often"),
  ].filter((one) => one !== undefined);
  if (parts.length === 0) {
    return { code: "nothing_waits", sentence: `No sample waits in \`${queue}\`.`, heldByOthers, ...tally };
  }
  const sentence = `Nothing in \`${queue}\` is for you now: ${parts.join(", ")}.`;
  return { code: "nothing_for_you", sentence, heldByOthers, ...tally };
}

function counted(count: number, one: string, many: string): string | undefined {
  if (count === 0) return undefined;
  const shown = count >= mostHeldCounted ? `${count.toLocaleString("en")} or more` : String(count);
  return `${shown} ${count === 1 ? one : many}`;
}
