import { isPawlError, PawlError } from "../../base/errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Verbs } from "../../kernel/verbs.ts";
import type { Assignments, Attribution } from "../assignments.ts";
import { sample } from "../lifecycle/sample.ts";
import { eventFor } from "../lifecycle/sends.ts";
import { sampleRefuses, sampleUnknown } from "../refusals.ts";
import { type LeadsSample, readSampleForLead } from "../store/samples.ts";
import { settleSamples } from "./settle.ts";

/** Decisions of leads on samples. */
export class Leads {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #work: Assignments;

  constructor(kernel: Kernel, verbs: Verbs, work: Assignments) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#work = work;
  }

  /** Reopens a sample that ended without a result: for more attempts at slots without a label, or for more labels. */
  async reopen(id: string, given: number | undefined, doing: Attribution): Promise<void> {
    const found = await this.#read(id);
    const owed = Math.max(found.spent - found.spare, 0);
    const least = found.spent === 0 ? 1 : owed;
    const attempts = given ?? least;
    if (!(Number.isInteger(attempts) && attempts >= least && attempts <= 1_000)) {
      throw new PawlError(
        "option_invalid",
        `\`attempts\` must be a whole number from ${least} to 1,000: sample ${id} has ${found.filled} of ${found.needs} labels.`,
      );
    }
    const payload = { attempts, slots: found.spent === 0 ? attempts : 0 };
    await this.#send(found, "reopen", payload, doing, "only samples that ended without a result can be reopened");
    await settleSamples(this.#kernel, [id]); // All eligible labelers may have finished it.
  }

  /** Closes a sample permanently, and ends its open assignments. */
  async close(id: string, doing: Attribution): Promise<void> {
    const found = await this.#read(id);
    if (found.state === "closed") return;
    await this.#send(found, "close", undefined, doing, "it has ended and cannot be changed");
    const reason = "Its sample was closed.";
    for (const { id: held } of (await this.#read(id)).held ?? []) {
      await this.#work.giveBack(held, "release", { ...doing, reason, idempotencyKey: undefined }).catch((error) => {
        if (!isPawlError(error, "invalid_transition")) throw error; // It ended in the meantime.
      });
    }
  }

  async #send(found: LeadsSample, event: string, payload: unknown, doing: Attribution, no: string): Promise<void> {
    const { actor, reason } = doing;
    const { id, version } = found;
    const send = eventFor(this.#kernel, {
      lifecycle: sample,
      id,
      event,
      payload,
      actor,
      reason,
      expectedVersion: version,
    });
    const sent = await this.#verbs.send(send, undefined);
    if (sent.ok) return;
    if (!isPawlError(sent.error, "transition_refused")) throw sent.error;
    throw sampleRefuses(id, String(sent.error.details.state), no);
  }

  async #read(id: string): Promise<LeadsSample> {
    const found = await readSampleForLead(this.#kernel.db, id);
    if (found === undefined) throw sampleUnknown(id);
    return found;
  }
}
