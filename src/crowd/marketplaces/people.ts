import { durationMs } from "../../base/duration.ts";
import type { Json } from "../../base/json.ts";
import { PermanentError } from "../../base/step-errors.ts";
import type { AnyQueue } from "../../definition/queue.ts";
import type { PostedSample, Postings } from "../../people/postings.ts";
import type { Label } from "../../people/results.ts";
import type {
  Bonus,
  Decided,
  Decision,
  Extension,
  Marketplace,
  MarketplaceContext,
  Posting,
  RemoteJob,
  RemoteSubmission,
} from "../marketplace.ts";
import { jobName } from "../names.ts";
import { queueNameOf } from "./people-queues.ts";

/**
 * Pawl's own labelers as a marketplace, under the name `people`: a job is a sample in the queue of its crowd
 * (`crowd-receipts` for the crowd `receipts`), its places are the sample's slots, and its workers are labelers, who get
 * work with `pawl.people.next("crowd-receipts", "ada")`. A labeler can correct a rejected submission; if that expires,
 * the place reopens for others. A lead may decide by hand, and undecided submissions are approved after a time. There
 * are no payments. A deleted job is gone for the crowd; its sample and labels stay until they are pruned.
 */
export function peopleMarketplace(queues: readonly AnyQueue[], postings: () => Postings): Marketplace {
  return new PeopleMarketplace(
    postings,
    queues.map((one) => one.name),
  );
}

const pageSize = 100;
const states = ["open", "withdrawn"] as const;

class PeopleMarketplace implements Marketplace {
  readonly title = "Pawl's own people";
  readonly can = { rejectionReopens: true, bonus: false };
  /** Set before the first call: a Pawl is created with its crowds, and people are a part of it. */
  readonly #open: () => Postings;
  readonly #queues: readonly string[];

  constructor(postings: () => Postings, queues: readonly string[]) {
    this.#open = postings;
    this.#queues = queues;
  }

  get #postings(): Postings {
    return this.#open();
  }

  check(): readonly string[] {
    return [];
  }

  async publish(posting: Posting, { signal }: MarketplaceContext): Promise<RemoteJob> {
    signal.throwIfAborted();
    const { crowd, token, owner, content, places, lifetimeMs, excludes } = posting;
    if (excludes.length > 0) {
      throw new PermanentError(`The marketplace \`people\` cannot exclude labelers from a job (${excludes[0]}).`);
    }
    const postedBy = { lifecycle: jobName(crowd), id: owner };
    const acceptAfterMs = durationMs(crowd.approvedAfter, "approvedAfter");
    const given = { key: token, postedBy, content, slots: places, lifetimeMs, acceptAfterMs };
    return jobOf(await this.#postings.post(queueNameOf(crowd), given));
  }

  async job(id: string, { signal }: MarketplaceContext): Promise<RemoteJob | undefined> {
    signal.throwIfAborted();
    const found = await this.#find(id);
    return found && jobOf(found);
  }

  /** One queue and state after the other; the place where a page ends names both. */
  async jobs(after: string | undefined, { signal }: MarketplaceContext): Promise<{ jobs: RemoteJob[]; next?: string }> {
    signal.throwIfAborted();
    const shelves = this.#queues.flatMap((queue) =>
      states.map((state) => ({ queue, state, name: `${queue}/${state}` })),
    );
    const [queue, state, beforeId = ""] = after?.split("/") ?? [];
    const at = after === undefined ? 0 : shelves.findIndex(({ name }) => name === `${queue}/${state}`);
    const shelf = shelves[at];
    if (shelf === undefined) return { jobs: [] };
    const page = { queue: shelf.queue, beforeId: beforeId === "" ? null : beforeId, limit: pageSize };
    const jobs = (await this.#postings.list(shelf.state, page)).map(jobOf);
    if (jobs.length === pageSize) return { jobs, next: `${shelf.name}/${jobs.at(-1)!.id}` };
    const next = shelves[at + 1];
    return next === undefined ? { jobs } : { jobs, next: `${next.name}/` };
  }

  async submissions(job: string, { signal }: MarketplaceContext): Promise<RemoteSubmission[]> {
    signal.throwIfAborted();
    await this.#get(job);
    await this.#postings.acceptOverdue(job);
    return (await this.#postings.labels(job)).map(submissionOf);
  }

  async decide(submission: string, decision: Decision, { signal }: MarketplaceContext): Promise<Decided> {
    signal.throwIfAborted();
    const label = await this.#label(submission);
    await this.#postings.acceptOverdue(label.sampleId);
    const first = verdictOf(await this.#label(submission));
    if (first !== undefined) return { verdict: first, already: true };
    const { verdict, feedback } = decision;
    if (verdict === "rejected" && (feedback ?? "").trim() === "") {
      throw new PermanentError(`Submission ${submission} cannot be rejected without a message to its worker.`);
    }
    const saying = { actor: label.queue, comment: feedback, isFirst: true };
    try {
      if (verdict === "approved") await this.#postings.accept(submission, saying);
      else await this.#postings.reject(submission, saying);
      return { verdict, already: false };
    } catch (error) {
      const other = verdictOf(await this.#label(submission));
      if (other === undefined) throw error;
      return { verdict: other, already: true }; // A lead was quicker.
    }
  }

  async extend(job: string, { token, places, until }: Extension, { signal }: MarketplaceContext): Promise<RemoteJob> {
    signal.throwIfAborted();
    await this.#get(job);
    return jobOf(await this.#postings.enlarge(job, { key: token, slots: places, untilMs: until?.getTime() ?? null }));
  }

  async close(job: string, { signal }: MarketplaceContext): Promise<void> {
    signal.throwIfAborted();
    await this.#postings.withdraw(job);
  }

  async dispose(job: string, { signal }: MarketplaceContext): Promise<void> {
    signal.throwIfAborted();
    await this.#postings.acceptOverdue(job);
    await this.#postings.retire(job);
  }

  async bonus({ worker }: Bonus, { signal }: MarketplaceContext): Promise<void> {
    signal.throwIfAborted();
    throw new PermanentError(`${worker} cannot be paid a bonus: Pawl's own people are not paid through Pawl.`);
  }

  async balance({ signal }: MarketplaceContext): Promise<null> {
    signal.throwIfAborted();
    return null;
  }

  async shutdown(): Promise<void> {}

  /** A job that is not deleted; a sample that has ended counts as a deleted one. */
  async #find(id: string): Promise<PostedSample | undefined> {
    const found = await this.#postings.find(id);
    return found?.state === "open" || found?.state === "withdrawn" ? found : undefined;
  }

  async #get(id: string): Promise<PostedSample> {
    const found = await this.#find(id);
    if (found === undefined) throw new PermanentError(`Job ${id} does not exist, or it has ended.`);
    return found;
  }

  async #label(id: string): Promise<Label> {
    const label = await this.#postings.label(id);
    if (label === undefined || (await this.#find(label.sampleId)) === undefined) {
      throw new PermanentError(`Submission ${id} does not exist, or its job has ended.`);
    }
    return label;
  }
}

function jobOf({ id, postedBy, slots, held, open, closesAtMs }: PostedSample): RemoteJob {
  return { id, owner: postedBy, places: slots, pending: held, expiresAt: new Date(closesAtMs), open: open > 0 };
}

function submissionOf(label: Label): RemoteSubmission {
  const { id, sampleId: job, labelerId: worker, value, at } = label;
  return { id, job, worker, status: verdictOf(label) ?? "submitted", answer: value as Json, submittedAt: at };
}

function verdictOf({ review }: Label): Decided["verdict"] | undefined {
  if (review === null) return undefined;
  return review === "accepted" ? "approved" : "rejected";
}
