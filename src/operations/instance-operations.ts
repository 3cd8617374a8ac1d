import type { Kernel } from "../kernel/kernel.ts";
import { type BulkEvent, refusalOfBulkEvent, sendToEach } from "../kernel/move/bulk-events.ts";
import type { Verbs } from "../kernel/verbs.ts";
import { findMatching, type MatchedInstances } from "../views/move/matching-instances.ts";
import type { OperationPreview } from "./results.ts";
import { type DecideItems, knownOutcomes, mostItems, reasonOf, refusalOf, refusedOutcome } from "./run-operations.ts";

const pageSize = 500;
const sampleOfEach = 5;
const firstId = "00000000-0000-0000-0000-000000000000";

/** The outcome of an instance that took the event. */
const outcomes = { send: "sent", recover: "recovered", restart: "restarted", discard: "discarded" } as const;

/** What is stored of a bulk operation on instances. A key of the data that is removed has no value in JSON. */
export interface InstanceSettings {
  readonly event?: string;
  readonly payload?: unknown;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly removed?: readonly string[];
}

/** Decides the instances of a bulk operation. */
export function decideInstances(kernel: Kernel, verbs: Verbs): DecideItems {
  return async (operation, items) => {
    const decision = operation.decision as BulkEvent["decision"];
    const { event = null, payload, data, removed = [] } = (operation.settings ?? {}) as InstanceSettings;
    const cleared = Object.fromEntries(removed.map((key) => [key, undefined]));
    const changed = data === undefined ? undefined : { ...data, ...cleared };
    const wanted = { decision, event, payload, data: changed, actor: operation.actor, reason: reasonOf(operation) };
    const targets = items.map(({ id, request_id: requestId, run, visit }) => ({
      ...{ id, requestId: requestId!, run: run!, visit: visit! },
    }));
    const results = await sendToEach(kernel, verbs, targets, wanted);
    const errors = results.flatMap((one) => (one.kind === "refused" ? [one.error] : []));
    const known = results.map((one) => {
      if (one.kind === "refused") return refusedOutcome(one.id, one.error);
      if (one.kind === "gone") return { itemId: one.id, outcome: "gone", note: "It was deleted." };
      return { itemId: one.id, outcome: outcomes[decision], note: null };
    });
    return knownOutcomes(known, errors);
  };
}

/** The expected result at present. Changes nothing. */
export async function previewInstances(
  kernel: Kernel,
  filter: MatchedInstances,
  wanted: BulkEvent,
): Promise<OperationPreview> {
  const counts: Record<string, number> = {};
  const sample: OperationPreview["sample"][number][] = [];
  let instances = 0;
  for (let afterId = firstId; instances < mostItems; ) {
    const page = await findMatching(kernel.db, filter, { afterId, limit: pageSize });
    if (page.length === 0) break;
    for (const row of page) {
      const refusal = refusalOfBulkEvent(kernel, row, wanted);
      const { outcome, note } =
        refusal === undefined ? { outcome: outcomes[wanted.decision], note: null } : refusalOf(refusal);
      const before = counts[outcome] ?? 0;
      counts[outcome] = before + 1;
      const { id, key, state } = row;
      if (before < sampleOfEach) sample.push({ id, key, state, outcome, note });
    }
    instances += page.length;
    afterId = page.at(-1)!.id;
  }
  return { instances, outcomes: counts, sample };
}
