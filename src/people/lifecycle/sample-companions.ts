import type { Decision } from "../../definition/decide/move.ts";
import type { CompanionTable } from "../../kernel/types/companion-table.ts";
import type { CheckRow } from "../../store/family/checks.ts";
import type { LetterDecision } from "../../store/recovery/dead-letters.ts";
import type { ReviewedLabel } from "../store/labels.ts";
import { insertSamples, moveSamples, type NewSample, type SampleMove } from "../store/samples.ts";
import type { LabelReview, SampleData } from "./sample.ts";

/** Updates sample rows and their slots with every move of a sample. */
export const sampleCompanions: CompanionTable = {
  starting: (decisions) => ({ rest: insertSamples(decisions.map(newSampleOf)) }),
  moving: (updates) => {
    const decisions = updates.flat();
    const [reviews, letters] = [decisions.flatMap(reviewOf), decisions.flatMap(letterOf)];
    return moveSamples(updates.map(moveOf), reviews, letters, decisions.flatMap(checkOf));
  },
};

function newSampleOf({ instance }: Decision): NewSample {
  const data = instance.data as SampleData;
  return {
    id: instance.id,
    queue: data.queue,
    needs: data.overlap,
    spare: data.maxAttemptsTotal - data.overlap,
    rank: data.rank,
    rankedBySlot: data.rankedBySlot,
    goldText: data.isGold ? JSON.stringify(data.gold) : null,
    posted: data.postedBy !== undefined,
  };
}

function moveOf(decisions: readonly Decision[]): SampleMove {
  const last = decisions.at(-1)!;
  const [was, is] = [isUnresolved(decisions[0]!.from), isUnresolved(last.to)];
  const of = (event: string) => decisions.filter((one) => one.event === event);
  const changes = decisions.map((one) => (one.payload as { changes?: number | null } | undefined)?.changes ?? 0);
  const more = [...of("reopen"), ...of("enlarge")].map((one) => one.payload as { attempts: number; slots: number });
  return {
    id: last.instance.id,
    open: last.to === "open",
    settled: Math.max(...changes) || null,
    reopens: last.to === "open" && more.length > 0,
    moreSlots: of("widen").length + more.reduce((sum, one) => sum + one.slots, 0),
    moreTries: more.reduce((sum, one) => sum + one.attempts, 0),
    // Its slots were never available, so reopening costs no tries.
    refunds: last.event === "unassign",
    needsMore: of("widen").length + of("reopen").length > 0,
    givenUp: was === is ? 0 : is ? 1 : -1,
    reason: is ? (last.reason ?? null) : null,
  };
}

/** Whether a sample in this state waits for a lead. */
function isUnresolved(state: string | null): boolean {
  return state === "exhausted" || state === "unassignable";
}

const reviews = { accept_label: "accepted", accept_late: "accepted", reject_label: "rejected" } as const;

function reviewOf({ event, instance, payload, actor }: Decision): ReviewedLabel[] {
  const review = reviews[event as keyof typeof reviews];
  if (review === undefined) return [];
  const { labelId, comment } = payload as LabelReview;
  return [{ labelId, sampleId: instance.id, review, by: actor, comment }];
}

/** The dead letter of a sample is decided when a lead reopens or closes the sample. */
function letterOf({ event, from, instance, actor, reason }: Decision): LetterDecision[] {
  if (!isUnresolved(from)) return [];
  const status = event === "close" ? "discarded" : "requeued";
  return [{ instanceId: instance.id, about: "instance", status, actor, reason }];
}

/**
 * The asking instance is also checked when a sample ends without a result: it has not ended, but no answer will come.
 */
function checkOf({ to, instance: { id, parent } }: Decision): CheckRow[] {
  if (parent === null || !isUnresolved(to)) return [];
  return [{ instanceId: id, parentId: parent.id, lifecycle: parent.lifecycle }];
}
