import { PawlError } from "../../base/errors.ts";
import type { QueueSettings } from "../../definition/queue-settings.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { planStart, startAll } from "../../kernel/move/start.ts";
import type { Attribution } from "../assignments.ts";
import { assignmentOfInstance, startOf } from "../lifecycle/new-assignment.ts";
import { queueUnknown, sampleRefuses, sampleUnknown } from "../refusals.ts";
import { type Assignment, assignmentOf } from "../results.ts";
import { readVisits } from "../store/assignments.ts";
import { readSampleForLead } from "../store/samples.ts";
import { findAssignmentsFor } from "../views/assignments.ts";
import { expireOverdue } from "./expire-due.ts";
import { inactiveQueue, whyNotEligible } from "./no-work-reason.ts";

const manyRounds = 5;

/**
 * Assigns a sample to a labeler, by the same rules as `next`: the labeler is eligible, has room for another assignment,
 * has not finished the sample, and a slot is free. An existing open assignment is returned as it is.
 */
export async function assignSample(
  kernel: Kernel,
  sampleId: string,
  to: string,
  doing: Attribution,
): Promise<Assignment> {
  const { db } = kernel;
  for (let round = 0; round < manyRounds; round++) {
    const sample = await readSampleForLead(db, sampleId);
    if (sample === undefined) throw sampleUnknown(sampleId);
    const [visit] = await readVisits(db, [{ queue: sample.queue, labeler: to }]);
    if (visit!.queue === null) throw queueUnknown(sample.queue);
    const settings = visit!.queue.settings as unknown as QueueSettings;
    const desk = visit!.desk ?? [];
    if (desk.some((row) => row.due_ms !== null && row.due_ms <= row.now_ms)) {
      await expireOverdue(kernel, sample.queue);
      continue;
    }
    const held = desk.find((row) => row.sample_id === sampleId);
    if (held !== undefined) return assignmentOf(held);
    const why = visit!.queue.active
      ? whyNotEligible(sample.queue, settings, to, visit!.labeler)
      : inactiveQueue(sample.queue);
    if (why !== undefined) throw refused(sampleId, to, why.sentence);
    if (sample.state !== "open") throw sampleRefuses(sampleId, sample.state, "it cannot be assigned in this state");
    const placed = desk.filter((row) => row.place !== null);
    if (placed.length >= settings.concurrency) {
      throw refused(
        sampleId,
        to,
        `\`${to}\` already has ${placed.length} open assignments, the maximum is ${settings.concurrency}.`,
      );
    }
    if (sample.open_slot === null) throw refused(sampleId, to, "It has no free slot; release an assignment first.");
    const earlier = (await findAssignmentsFor(db, sampleId)).filter((row) => row.labeler === to);
    const places = new Set(desk.map((row) => row.place));
    let place = 1;
    while (places.has(place)) place += 1;
    const start = startOf(kernel, { queue: sample.queue, labeler: to }, settings, {
      slot: { rank: 0, sampleId, no: sample.open_slot },
      tries: earlier.filter((row) => !row.released).length,
      attempts: Math.max(0, ...earlier.map((row) => row.attempts)),
      place,
    });
    const { actor, reason } = doing;
    const [started] = await startAll(kernel, db, [planStart(kernel, { ...start, actor, reason })]);
    if (started!.ok) return assignmentOfInstance(started!.instance);
    if (started!.error.code !== "busy" && started!.error.code !== "assignment_conflict") throw started!.error;
    const last = earlier.at(-1);
    if (last !== undefined && last.status !== "expired") {
      throw refused(sampleId, to, `\`${to}\` already worked on it: assignment ${last.id} is ${last.status}.`);
    }
    if (last !== undefined && earlier.length >= settings.maxAttemptsPerLabeler) {
      throw refused(sampleId, to, `\`${to}\` was assigned it as often as the queue allows.`);
    }
    // Another process claimed the slot or the place at the same time.
  }
  throw new PawlError("busy", `Sample ${sampleId} could not be assigned: contention on its queue. Try again.`);
}

function refused(sample: string, labeler: string, why: string): PawlError {
  const message = `Sample ${sample} cannot be assigned to \`${labeler}\`. ${why}`;
  return new PawlError("not_allowed", message, { sample, labeler });
}
