import { PawlError } from "../base/errors.ts";
import { compute } from "../base/guard.ts";
import { type Json, storableText } from "../base/json.ts";
import { checkedText } from "../base/text.ts";
import type { AnyQueue } from "../definition/queue.ts";
import type { RankedSample } from "../definition/queue-settings.ts";
import { quotedValue } from "../definition/read/fault.ts";
import { itemInvalid } from "../kernel/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Start } from "../kernel/types/start.ts";
import { checkLabel, labelInvalid } from "./labels/check-label.ts";
import { type SampleData, sample } from "./lifecycle/sample.ts";
import { instanceKeyOf } from "./lifecycle/sample-key.ts";

/** A sample to label. */
export interface NewSample {
  /** What the labeler sees. */
  readonly data: unknown;
  /** Your own name for it, unique within the queue: adding it twice adds it once. */
  readonly key?: string;
  /** Its priority in a queue ordered by `priority`: lower is handed out first. Defaults to 0. */
  readonly priority?: number;
  /** The number of labelers. Defaults to the queue's `overlap`. */
  readonly overlap?: number;
  /** The known correct label, which measures its labelers. */
  readonly gold?: unknown;
}

const keys = ["data", "key", "priority", "overlap", "gold"];

/** Adds samples to a queue: all are validated before any is written. */
export async function newSamples(
  kernel: Kernel,
  queue: AnyQueue,
  given: readonly NewSample[],
  cause: { readonly actor: string | null; readonly reason: string | null },
): Promise<Start[]> {
  if (!Array.isArray(given)) throw new PawlError("option_invalid", "`samples` must be a list.");
  const starts: Start[] = [];
  for (const [index, one] of (given as readonly NewSample[]).entries()) {
    try {
      checkKeys(one);
      const gold = one.gold === undefined ? null : await goldOf(queue, one);
      starts.push(startOf(kernel, queue, one, gold, cause));
    } catch (error) {
      throw itemInvalid(error, index);
    }
  }
  return starts;
}

/** A gold label must be a valid label. */
async function goldOf(queue: AnyQueue, { gold, data }: NewSample): Promise<Json> {
  const checked = await checkLabel(queue, { label: gold, sample: data, labeler: "gold" });
  if (checked.faults !== undefined) throw labelInvalid(queue, checked.faults);
  return checked.label;
}

function startOf(
  kernel: Kernel,
  queue: AnyQueue,
  given: NewSample,
  gold: Json | null,
  cause: { readonly actor: string | null; readonly reason: string | null },
): Start {
  const overlap = given.overlap ?? queue.overlap;
  if (!(Number.isInteger(overlap) && overlap >= 1 && overlap <= queue.maxAttemptsTotal)) {
    throw new PawlError(
      "option_invalid",
      `\`overlap\` must be a whole number from 1 to ${queue.maxAttemptsTotal}, the \`maxAttemptsTotal\` of queue \`${queue.name}\`.`,
    );
  }
  if (queue.labelers !== null && overlap > queue.labelers.length) {
    throw new PawlError(
      "option_invalid",
      `\`overlap\` is ${overlap}, and \`${queue.name}\` names ${queue.labelers.length} labelers. Lower it, or name more labelers.`,
    );
  }
  const rank = given.priority ?? 0;
  if (typeof rank !== "number" || !Number.isFinite(rank)) {
    throw new PawlError("option_invalid", "`priority` must be a number; lower is handed out first.");
  }
  if (given.data === undefined) throw new PawlError("option_invalid", "A sample needs `data` to show to labelers.");
  storableText(given.data, "The data of a sample");
  const isGold = given.gold !== undefined;
  const key = given.key === undefined ? null : checkedText(given.key, "The key", "key_invalid");
  const data = sampleDataOf(queue, { content: given.data as Json, key, overlap, priority: rank, gold, isGold });
  return {
    lifecycle: sample,
    key: key === null ? null : checkedText(instanceKeyOf(queue.name, key), "The key", "key_invalid"),
    data,
    ...cause,
    requestId: kernel.newId(),
  };
}

/** The settings of the queue that a sample stores, and its content. */
export function sampleDataOf(
  queue: AnyQueue,
  given: Pick<SampleData, "content" | "overlap" | "gold" | "isGold"> & {
    readonly key: string | null;
    readonly priority: number;
  },
): SampleData {
  const { priority, key, ...about } = given;
  return {
    queue: queue.name,
    ...about,
    maxAttemptsTotal: queue.maxAttemptsTotal,
    rank: queue.order === "priority" ? priority : rankOf(queue, { data: given.content, key }),
    rankedBySlot: queue.order === "least_labeled",
    review: queue.review,
    agreementWanted: given.isGold ? null : queue.agreement,
    consensus: null,
    agreement: null,
    reason: null,
  };
}

function rankOf({ name, rank }: AnyQueue, sample: RankedSample): number {
  if (rank === undefined) return 0;
  const number: unknown = compute("hook_failed", `The \`order\` of the queue \`${name}\``, () => rank(sample));
  if (typeof number === "number" && Number.isFinite(number)) return number;
  throw new PawlError(
    "option_invalid",
    `The \`order\` of the queue \`${name}\` must return a number for each sample; for ${sample.key ?? "this one"} it returned ${quotedValue(number)}.`,
    { queue: name },
  );
}

function checkKeys(given: NewSample): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new PawlError("option_invalid", "A sample must be { data, key?, priority?, overlap?, gold? }.");
  }
  const stray = Object.keys(given).find((key) => !keys.includes(key));
  if (stray === undefined) return;
  throw new PawlError(
    "option_invalid",
    `A sample has no \`${stray.slice(0, 100)}\`. Known fields: ${keys.join(", ")}.`,
  );
}
