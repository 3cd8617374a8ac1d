import type { QueueSettings } from "../../definition/queue-settings.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { sendAll } from "../../kernel/move/send.ts";
import { sample } from "../lifecycle/sample.ts";
import { eventFor } from "../lifecycle/sends.ts";
import { settleSamples, type Unsettled } from "../review/settle.ts";
import { readEligible } from "../store/labelers.ts";
import { markQueueChecked, readQueues, readUncheckedQueues } from "../store/queues.ts";
import { markUnsettled, readStuckSamples, readUnassignable } from "../store/samples.ts";
import type { SlotPosition } from "../store/slots.ts";
import { EligibleLabelers, maxExcluded } from "./eligible-labelers.ts";

const slotsAtOnce = 5_000;
const pageSize = 500;
const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Recomputes, after a change of labelers or queues, which samples have no eligible labeler left and which have one
 * again. The verbs that make such a change call it; maintenance covers interrupted calls and queues whose declaration
 * in code has changed.
 */
export async function recheckEligibility(kernel: Kernel): Promise<Unsettled[]> {
  const unchecked = await readUncheckedQueues(kernel.db);
  if (unchecked.length === 0) return [];
  const failures = await reopenAssignable(kernel);
  for (const { name, settings, eligibility } of unchecked) {
    failures.push(...(await giveUpStuck(kernel, name, settings as unknown as QueueSettings)));
    await markQueueChecked(kernel.db, name, eligibility);
  }
  return failures;
}

/** The samples are marked first: if the process ends here, the next scan of unsettled samples finds them. */
async function giveUpStuck(kernel: Kernel, queue: string, settings: QueueSettings): Promise<Unsettled[]> {
  const { labelers, skills } = settings;
  if (labelers === null && skills.length === 0) return [];
  const eligible = await readEligible(kernel.db, { among: labelers, skills }, maxExcluded);
  if (eligible.length === maxExcluded) return [];
  const failures: Unsettled[] = [];
  for (let after: SlotPosition | null = null; ; ) {
    const { seen, last, stuck } = await readStuckSamples(kernel.db, { queue, eligible, after, limit: slotsAtOnce });
    for (let first = 0; first < (stuck ?? []).length; first += pageSize) {
      const ids = stuck!.slice(first, first + pageSize);
      await markUnsettled(kernel.db, ids);
      failures.push(...(await settleSamples(kernel, ids)));
    }
    if (last === null || seen < slotsAtOnce) return failures;
    after = { rank: last.rank, sampleId: last.sample_id, no: last.no };
  }
}

/** Reopens samples that had no eligible labeler and now have one. */
async function reopenAssignable(kernel: Kernel): Promise<Unsettled[]> {
  const eligible = new EligibleLabelers(kernel.db);
  const failures: Unsettled[] = [];
  for (let afterId = firstId; ; ) {
    const samples = await readUnassignable(kernel.db, afterId, pageSize);
    const names = [...new Set(samples.map((one) => one.queue))];
    const queues = new Map((await readQueues(kernel.db, names)).map((row) => [row.name, row]));
    const sends = [];
    for (const one of samples) {
      const queue = queues.get(one.queue);
      if (queue === undefined || !(await eligible.canLabel(one, queue))) continue;
      const payload = { attempts: 0, slots: 0 };
      const reason = "There is an eligible labeler.";
      const { id, version: expectedVersion } = one;
      sends.push(
        eventFor(kernel, { lifecycle: sample, id, event: "reopen", payload, reason, expectedVersion, source: "pawl" }),
      );
    }
    for (const [index, sent] of (sends.length === 0 ? [] : await sendAll(kernel, sends)).entries()) {
      if (sent.ok || sent.error.code === "version_conflict" || sent.error.code === "transition_refused") continue;
      failures.push({ id: (sends[index]!.ref as { id: string }).id, error: sent.error });
    }
    const last = samples.at(-1);
    if (last === undefined || samples.length < pageSize) return failures;
    afterId = last.id;
  }
}
