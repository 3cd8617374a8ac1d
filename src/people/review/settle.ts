import type { Json } from "../../base/json.ts";
import type { JsonSchema } from "../../definition/schema/json-schema.ts";
import { asPawlError } from "../../kernel/errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { sendAll } from "../../kernel/move/send.ts";
import { alertsTopic } from "../../kernel/signals/signals.ts";
import type { Send } from "../../kernel/types/send.ts";
import { EligibleLabelers } from "../assigning/eligible-labelers.ts";
import { type SampleData, sample } from "../lifecycle/sample.ts";
import { eventFor } from "../lifecycle/sends.ts";
import { notifyPosters } from "../notify-posters.ts";
import { type QueueRow, readQueues } from "../store/queues.ts";
import {
  markSettled,
  readUnsettled,
  readUnsettledAmong,
  readUnsettledOf,
  type UnsettledSample,
} from "../store/samples.ts";
import { conclude, isRight } from "./conclude.ts";

const pageSize = 500;
const firstId = "00000000-0000-0000-0000-000000000000";

/** Returns the next event of a sample; undefined if it continues as it is. */
type Verdict = { readonly event: string; readonly payload: object; readonly reason: string | null } | undefined;

/** A sample that could not be moved, with its error. */
export interface Unsettled {
  readonly id: string;
  readonly error: unknown;
}

/**
 * Settles the samples of these assignments if all their slots are filled or spent, or if they may have no eligible
 * labeler left. Failed moves are left to maintenance, which reports them; the label is kept.
 */
export async function settle(kernel: Kernel, assignmentIds: readonly string[]): Promise<void> {
  if (assignmentIds.length > 0) await settleAll(kernel, await readUnsettledOf(kernel.db, assignmentIds));
}

/** Settles samples by id; returns those that could not be moved. */
export async function settleSamples(kernel: Kernel, ids: readonly string[]): Promise<Unsettled[]> {
  return ids.length === 0 ? [] : settleAll(kernel, await readUnsettledAmong(kernel.db, ids));
}

/** Settles all samples that have not been checked: after a crash, or after assignments expired. */
export async function settleRest(kernel: Kernel): Promise<Unsettled[]> {
  const failures: Unsettled[] = [];
  for (let afterId = firstId; ; ) {
    const samples = await readUnsettled(kernel.db, afterId, pageSize);
    failures.push(...(await settleAll(kernel, samples)));
    const last = samples.at(-1);
    if (last === undefined || samples.length < pageSize) return failures;
    afterId = last.id;
  }
}

/** Posted samples are settled by their crowd job, which is notified. */
async function settleAll(kernel: Kernel, all: readonly UnsettledSample[]): Promise<Unsettled[]> {
  const isPosted = ({ data }: UnsettledSample) => (data as SampleData).postedBy !== undefined;
  const [posted, own] = [all.filter(isPosted), all.filter((one) => !isPosted(one))];
  return [...(await notifyPosters(kernel, posted)), ...(await settleOwn(kernel, own))];
}

async function settleOwn(kernel: Kernel, samples: readonly UnsettledSample[]): Promise<Unsettled[]> {
  if (samples.length === 0) return [];
  const names = new Set(samples.map((one) => one.queue));
  const queues = new Map((await readQueues(kernel.db, [...names])).map((row) => [row.name, row]));
  const eligible = new EligibleLabelers(kernel.db);
  const sends: Send[] = [];
  const going: UnsettledSample[] = [];
  const failures: Unsettled[] = [];
  for (const one of samples) {
    try {
      const verdict = await judge(one, queues.get(one.queue), eligible);
      if (verdict === undefined) going.push(one);
      else sends.push(sendOf(kernel, one, verdict));
    } catch (error) {
      failures.push({ id: one.id, error: asPawlError(error) });
    }
  }
  if (going.length > 0) await markSettled(kernel.db, going);
  const sent = sends.length === 0 ? [] : await sendAll(kernel, sends);
  const widened: string[] = [];
  for (const [index, one] of sent.entries()) {
    const { ref, event } = sends[index]!;
    const { id } = ref as { id: string };
    if (one.ok && event === "widen") widened.push(id);
    if (one.ok && (event === "exhaust" || event === "unassign")) kernel.signals.hint(alertsTopic);
    // It moved in the meantime: that call checks it, or the next round.
    if (one.ok || one.error.code === "version_conflict" || one.error.code === "transition_refused") continue;
    failures.push({ id, error: one.error });
  }
  // It needs one more label; all eligible labelers may have labeled it already.
  return [...failures, ...(await settleSamples(kernel, widened))];
}

async function judge(one: UnsettledSample, queue: QueueRow | undefined, eligible: EligibleLabelers): Promise<Verdict> {
  if (one.state !== "open" || queue === undefined) return undefined;
  if (one.filled + one.spent >= one.needs) return verdictOf(one, queue.label_schema);
  if (one.open_slots === 0 || one.held_slots > 0 || (await eligible.canLabel(one, queue))) return undefined;
  const reason = `No eligible labeler is left: it has ${one.filled} of ${one.needs} labels.`;
  const { agreement } = conclude(labelsOf(one), queue.label_schema);
  return { event: "unassign", reason, payload: { reason, agreement, changes: one.changes } };
}

/** Decides on a sample whose slots are all filled or spent. Pure: equal samples have equal verdicts. */
function verdictOf(one: UnsettledSample, form: JsonSchema): Verdict {
  const data = one.data as SampleData;
  const { changes } = one;
  if (data.review && one.labels?.some((label) => label.review === null)) return undefined;
  const labels = labelsOf(one);
  const { consensus: said, agreement } = conclude(labels, form);
  const givenUp = (reason: string): Verdict => ({ event: "exhaust", reason, payload: { reason, agreement, changes } });
  if (one.spent > 0) {
    return givenUp(`It reached the maximum of attempts of its queue, with ${labels.length} of ${one.needs} labels.`);
  }
  if (data.isGold) return goldVerdict(data.gold, said, agreement, { form, changes });
  const wanted = data.agreementWanted;
  const isFar = wanted !== null && (agreement ?? 1) < wanted.atLeast;
  if (!isFar && said !== undefined) {
    return { event: "agree", reason: null, payload: { consensus: said, agreement, changes } };
  }
  const apart = isFar
    ? `The labels agree to ${percent(agreement!)}; ${percent(wanted.atLeast)} is required.`
    : "The labels tie.";
  if (wanted !== null && one.needs < wanted.maxOverlap && one.spare > 0) {
    return { event: "widen", reason: apart, payload: { agreement, changes } };
  }
  return givenUp(apart);
}

/**
 * The gold label is the result, whatever the labels: they only measure their labelers. The agreement of the labels is
 * recorded, and so is a contradiction, since the gold label itself may be wrong.
 */
function goldVerdict(
  gold: Json | null,
  said: Json | undefined,
  agreement: number | null,
  { form, changes }: { readonly form: JsonSchema; readonly changes: number },
): Verdict {
  const isContradicted = said !== undefined && !isRight(said, gold, form);
  const reason = isContradicted ? "The labels contradict the gold label." : null;
  return { event: "agree", reason, payload: { consensus: gold, agreement, reason, changes } };
}

function labelsOf(one: UnsettledSample): Json[] {
  return (one.labels ?? []).map((label) => label.value as Json);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function sendOf(kernel: Kernel, one: UnsettledSample, { event, payload, reason }: NonNullable<Verdict>): Send {
  const { id, version: expectedVersion } = one;
  return eventFor(kernel, { lifecycle: sample, id, event, payload, reason, expectedVersion, source: "pawl" });
}
