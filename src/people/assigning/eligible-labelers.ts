import type { QueueSettings } from "../../definition/queue-settings.ts";
import type { Executor } from "../../store/port/db.ts";
import { readEligible } from "../store/labelers.ts";
import type { QueueRow } from "../store/queues.ts";
import type { UnsettledSample } from "../store/samples.ts";

/** More than can ever be excluded from one sample. */
export const maxExcluded = 2_001;

/** The eligible labelers of each queue, read once for all samples of a batch. */
export class EligibleLabelers {
  readonly #db: Executor;
  readonly #known = new Map<string, Promise<readonly string[]>>();

  constructor(db: Executor) {
    this.#db = db;
  }

  /** Whether an eligible labeler is left who has not finished it. */
  async canLabel(sample: UnsettledSample, queue: QueueRow): Promise<boolean> {
    const { labelers, skills } = queue.settings as unknown as QueueSettings;
    if (labelers === null && skills.length === 0) return true;
    const known = this.#known.get(queue.name) ?? readEligible(this.#db, { among: labelers, skills }, maxExcluded);
    this.#known.set(queue.name, known);
    const barred = new Set(sample.barred);
    const eligible = await known;
    return eligible.length > barred.size || eligible.some((labeler) => !barred.has(labeler));
  }
}
