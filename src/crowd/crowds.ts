import { isPawlError, PawlError } from "../base/errors.ts";
import { causeOf, checkedId, checkedLimit, checkedOptions } from "../base/options.ts";
import { checkedText } from "../base/text.ts";
import type { LifecycleModel } from "../definition/model.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { snapshotOf } from "../kernel/move/snapshot.ts";
import type { Verbs } from "../kernel/verbs.ts";
import { eventFor } from "../people/lifecycle/sends.ts";
import { findChildren, findChildrenInStates } from "../views/children.ts";
import { readCounts } from "../views/counts.ts";
import { findAll, findInStates } from "../views/move/instances.ts";
import type { CrowdLifecycles } from "./crowd-lifecycles.ts";
import type { BonusData, SubmissionData } from "./data.ts";
import { newJob } from "./job/new-job.ts";
import {
  type AskOptions,
  amountOf,
  type BonusOptions,
  type CrowdCallOptions,
  type CrowdRef,
  contentOf,
  crowdNameOf,
  type DecideOptions,
  feedbackOf,
} from "./options.ts";
import { type ReconcileIssue, reconcile } from "./reconcile.ts";
import {
  type CrowdJob,
  type CrowdJobState,
  type CrowdSubmission,
  jobShown,
  rejectedStates,
  type SubmissionState,
  submissionShown,
  submissionStateOf,
} from "./results.ts";

export interface CrowdPageOptions<State> {
  readonly state?: State | readonly State[] | undefined;
  /**
   * The size of a page, at most 1,000.
   * @default 100
   */
  readonly limit?: number | undefined;
  /** Continues after the last item of the page before. */
  readonly after?: { readonly id: string } | undefined;
}

/** A crowd and its marketplace. */
export interface ListedCrowd {
  readonly name: string;
  /** The name that the config gives to its marketplace, and what that calls itself. */
  readonly marketplace: string;
  readonly title: string;
  readonly paysBonuses: boolean;
  /** The marketplace is a sandbox. */
  readonly sandbox: boolean;
}

/** Counts by state; states without instances are left out. */
export interface CrowdCounts {
  readonly jobs: { readonly [State in CrowdJobState]?: number };
  readonly submissions: { readonly [State in SubmissionState]?: number };
}

/**
 * Crowds: publishes questions on marketplaces, reviews the submissions of their workers, and pays them. `pawl.crowd`.
 *
 * ```ts
 * const pawl = await createPawl({ lifecycles: [], crowds: [receipts], marketplaces: { mturk: mturk() } });
 * const { id } = await pawl.crowd.ask(receipts, { key: "r-42", content: { image: "https://…" } });
 * for (const one of await pawl.crowd.submissions(receipts, { state: "pending_approval" }))
 *   await pawl.crowd.approve(one.id, { actor: "ada" });
 * ```
 */
export class Crowds {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #families: ReadonlyMap<string, CrowdLifecycles>;

  /** @internal */
  constructor(kernel: Kernel, verbs: Verbs, families: Iterable<CrowdLifecycles>) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#families = new Map([...families].map((family) => [family.crowd.name, family]));
  }

  /** The crowds that this process declares, with their marketplaces. */
  list(): ListedCrowd[] {
    return [...this.#families.values()].map(
      ({ crowd: { name, marketplace }, marketplace: { title, can, sandbox } }) => ({
        ...{ name, marketplace, title },
        paysBonuses: can.bonus,
        sandbox: sandbox === true,
      }),
    );
  }

  /** Counts the jobs and submissions of a crowd by state. */
  async counts(crowd: CrowdRef): Promise<CrowdCounts> {
    refuseInside(this.#kernel, "counts");
    const { job, submission } = this.#family(crowd);
    const rows = await readCounts(this.#kernel.db, [job.name, submission.name]);
    const of = ({ name }: LifecycleModel) => rows.filter((row) => row.lifecycle === name);
    const submissions: { [State in SubmissionState]?: number } = {};
    for (const { state, instances } of of(submission)) {
      const shown = submissionStateOf(state);
      submissions[shown] = (submissions[shown] ?? 0) + instances;
    }
    return { jobs: Object.fromEntries(of(job).map((row) => [row.state, row.instances])), submissions };
  }

  /** Asks a crowd a question. If the key is in use, returns its job with `created: false`. */
  async ask(crowd: CrowdRef, options: AskOptions): Promise<CrowdJob & { readonly created: boolean }> {
    const family = this.#family(crowd);
    const keys = ["content", "key", "tx", ...callKeys];
    const { content, key, tx, ...call } = checkedOptions<Partial<AskOptions>>(options, keys, "crowd.ask");
    const start = {
      lifecycle: family.job,
      key: key === undefined ? null : checkedText(key, "The key", "key_invalid"),
      data: newJob(family.crowd, contentOf(content)),
      ...causeOf(call),
      requestId: this.#kernel.newId(),
    };
    const started = await this.#verbs.inTurn(tx, () => this.#verbs.start(start, tx));
    if (!started.ok) throw started.error;
    return { ...jobShown(started.instance), created: started.created };
  }

  /** The jobs of a crowd, newest first. */
  async jobs(crowd: CrowdRef, options: CrowdPageOptions<CrowdJobState> = {}): Promise<CrowdJob[]> {
    const rows = await this.#find(this.#family(crowd).job, checkedOptions(options, pageKeys, "crowd.jobs"));
    return rows.map(jobShown);
  }

  /** Returns a job by its id, or by its key. */
  async job(job: string | { readonly crowd: CrowdRef; readonly key: string }): Promise<CrowdJob | undefined> {
    if (typeof job === "object" && job !== null) {
      const key = checkedText(job.key, "The key", "key_invalid");
      const row = await this.#verbs.read(this.#family(job.crowd).job, { key }, undefined);
      return row && jobShown(snapshotOf(row));
    }
    const found = await this.#read(checkedId(job, "crowd job"), "job");
    return found && jobShown(found.snapshot);
  }

  /** Lists the submissions to a crowd or to one of its jobs, newest first. */
  async submissions(
    of: CrowdRef | { readonly job: string },
    options: CrowdPageOptions<SubmissionState> = {},
  ): Promise<CrowdSubmission[]> {
    checkedOptions(options, pageKeys, "crowd.submissions");
    if (typeof of === "object" && of !== null && "job" in of) {
      const id = checkedId(of.job, "crowd job");
      const found = await this.#read(id, "job");
      if (found === undefined) throw unknown("crowd job", id);
      const { submission } = found.family;
      const page = { ...this.#page(options), parentId: id, lifecycle: submission.name };
      const states = statesOf(submission, options);
      const { db } = this.#kernel;
      const rows = await (states === undefined ? findChildren(db, page) : findChildrenInStates(db, states, page));
      return rows.map((row) => submissionShown(snapshotOf(row)));
    }
    const rows = await this.#find(this.#family(of).submission, options);
    return rows.map(submissionShown);
  }

  async submission(id: string): Promise<CrowdSubmission | undefined> {
    const found = await this.#read(checkedId(id, "submission"), "submission");
    return found && submissionShown(found.snapshot);
  }

  /**
   * Approves a submission that waits for a decision, or that its check could not decide. The marketplace is updated
   * next.
   */
  async approve(submission: string, options: DecideOptions = {}): Promise<CrowdSubmission> {
    const { feedback, ...by } = checkedOptions(options, ["feedback", ...callKeys], "crowd.approve");
    return this.#decide(submission, "approve", { feedback: feedbackOf(feedback, false) }, by);
  }

  /** Rejects a submission. Its worker receives the feedback. */
  async reject(submission: string, options: DecideOptions & { readonly feedback: string }): Promise<CrowdSubmission> {
    const { feedback, ...by } = checkedOptions(options, ["feedback", ...callKeys], "crowd.reject");
    return this.#decide(submission, "reject", { feedback: feedbackOf(feedback, true) }, by);
  }

  /** Runs the crowd's own check again on a submission that it could not decide. */
  async retry(submission: string, options: CrowdCallOptions = {}): Promise<CrowdSubmission> {
    return this.#decide(submission, "retry", undefined, checkedOptions(options, callKeys, "crowd.retry"));
  }

  /** Syncs a job with the marketplace now. */
  async sync(job: string, options: CrowdCallOptions = {}): Promise<CrowdJob> {
    return jobShown(
      await this.#send(
        checkedId(job, "crowd job"),
        "job",
        "notice",
        undefined,
        checkedOptions(options, callKeys, "crowd.sync"),
      ),
    );
  }

  /**
   * Syncs the job with this id at the marketplace, as a notification carries it. Returns false if the job is unknown or
   * has ended, and if the marketplace could not be reached: the next sweep then finds what happened.
   */
  async handleNotification(marketplace: string, posting: string): Promise<boolean> {
    const family = this.#onMarketplace(marketplace);
    const owner = await this.#ownerOf(family, checkedText(posting, "The id of the posting"));
    if (owner === null) return false;
    try {
      await this.sync(owner, { reason: "The marketplace reported a change." });
      return true;
    } catch (error) {
      if (isPawlError(error, "instance_unknown") || isPawlError(error, "transition_refused")) return false;
      throw error;
    }
  }

  /** Closes a job: no new worker can begin; work that has begun is decided and paid. */
  async close(job: string, options: CrowdCallOptions = {}): Promise<CrowdJob> {
    return jobShown(
      await this.#send(
        checkedId(job, "crowd job"),
        "job",
        "close",
        undefined,
        checkedOptions(options, callKeys, "crowd.close"),
      ),
    );
  }

  /**
   * Ends a job at once, even one that was never published and so cannot be closed. Its postings are closed at the
   * marketplace; submissions stay undecided. Prefer `close`, which pays for work that has begun.
   */
  async discard(job: string, options: CrowdCallOptions = {}): Promise<CrowdJob> {
    return jobShown(
      await this.#send(
        checkedId(job, "crowd job"),
        "job",
        "discard",
        undefined,
        checkedOptions(options, callKeys, "crowd.discard"),
      ),
    );
  }

  /**
   * Pays the worker of a submission more: once, unless it is given another key.
   *
   * @throws `idempotency_conflict` when another amount or reason was given under the same key before.
   */
  async bonus(submission: string, options: BonusOptions): Promise<{ readonly id: string; readonly created: boolean }> {
    const keys = ["amount", "key", ...callKeys];
    const { amount, reason, key, actor } = checkedOptions<Partial<BonusOptions>>(options, keys, "crowd.bonus");
    const id = checkedId(submission, "submission");
    const found = await this.#read(id, "submission");
    if (found === undefined) throw unknown("submission", id);
    const { family, snapshot } = found;
    if (!family.marketplace.can.bonus) {
      throw new PawlError("option_invalid", `${family.marketplace.title} pays no bonuses.`, { submission: id });
    }
    const { crowd, submission: there, worker } = snapshot.model.data as SubmissionData;
    const payment = { amount: amountOf(amount), reason: feedbackOf(reason, true, "reason")! };
    const start = {
      lifecycle: family.bonus,
      key: key === undefined ? id : `${id}:${checkedText(key, "The key", "key_invalid")}`,
      data: { crowd, submission: there, worker, ...payment },
      ...causeOf({ actor }),
      requestId: this.#kernel.newId(),
    };
    const started = await this.#verbs.start(start, undefined);
    if (!started.ok) throw started.error;
    if (!started.created) refuseOtherBonus(id, started.instance.model.data as BonusData, payment);
    return { id: started.instance.model.id, created: started.created };
  }

  /** The balance for payments at a marketplace; null if it pays nothing. */
  async balance(marketplace: string): Promise<string | null> {
    return this.#onMarketplace(marketplace).marketplace.balance(soon());
  }

  /**
   * Compares the marketplaces with Pawl's jobs and lists the differences: postings without a job, and jobs whose
   * posting is missing. With `repair: true`, postings of jobs of this Pawl are closed, and jobs without a posting sync.
   */
  async reconcile(
    options: { readonly marketplace?: string; readonly repair?: boolean } = {},
  ): Promise<ReconcileIssue[]> {
    refuseInside(this.#kernel, "reconcile");
    const { marketplace, repair } = checkedOptions(options, ["marketplace", "repair"], "crowd.reconcile");
    const all = [...this.#families.values()];
    const wanted = marketplace === undefined ? all : all.filter((one) => one.crowd.marketplace === marketplace);
    if (marketplace !== undefined) this.#onMarketplace(marketplace);
    return reconcile(this.#kernel, wanted, {
      repair: repair === true,
      sync: async (id) => void (await this.sync(id, { reason: "Its posting is gone." })),
    });
  }

  /** The job of a posting; null if it belongs to no job here, or the marketplace does not answer. */
  async #ownerOf({ crowd, marketplace }: CrowdLifecycles, posting: string): Promise<string | null> {
    try {
      return (await marketplace.job(posting, soon()))?.owner ?? null;
    } catch (err) {
      const payment = "A notification could not be looked up on its marketplace; the next poll will find the change.";
      this.#kernel.telemetry.log.warn({ err, marketplace: crowd.marketplace, posting }, payment);
      return null;
    }
  }

  async #decide(
    submission: string,
    event: string,
    payload: unknown,
    options: CrowdCallOptions,
  ): Promise<CrowdSubmission> {
    return submissionShown(
      await this.#send(checkedId(submission, "submission"), "submission", event, payload, options),
    );
  }

  async #send(id: string, part: "job" | "submission", event: string, payload: unknown, options: CrowdCallOptions) {
    const found = await this.#read(id, part);
    if (found === undefined) throw unknown(part === "job" ? "crowd job" : part, id);
    const send = eventFor(this.#kernel, { lifecycle: found.family[part], id, event, payload, ...causeOf(options) });
    const sent = await this.#verbs.send(send, undefined);
    if (!sent.ok) throw sent.error;
    return sent.instance;
  }

  async #read(id: string, part: "job" | "submission") {
    const name = await this.#verbs.lifecycleOf({ id });
    const family = [...this.#families.values()].find((one) => one[part].name === name);
    const row = family && (await this.#verbs.read(family[part], { id }, undefined));
    return row && { family: family!, snapshot: snapshotOf(row) };
  }

  async #find(lifecycle: LifecycleModel, options: CrowdPageOptions<string>) {
    refuseInside(this.#kernel, "find");
    const page = { ...this.#page(options), lifecycle: lifecycle.name };
    const states = statesOf(lifecycle, options);
    const { db } = this.#kernel;
    const rows = states === undefined ? await findAll(db, page) : await findInStates(db, states, page);
    return rows.map(snapshotOf);
  }

  #page({ limit = 100, after }: CrowdPageOptions<string>): { beforeId: string | null; limit: number } {
    checkedLimit(limit);
    return { beforeId: after === undefined ? null : checkedId(after.id, "crowd job"), limit };
  }

  #family(crowd: CrowdRef): CrowdLifecycles {
    const name = crowdNameOf(crowd);
    const family = this.#families.get(name);
    if (family !== undefined && (typeof crowd === "string" || family.crowd === crowd)) return family;
    throw new PawlError(
      "option_invalid",
      `Crowd \`${name}\` is not registered in this process. Pass it to createPawl({ crowds: […] }).`,
      { crowd: name },
    );
  }

  #onMarketplace(name: string): CrowdLifecycles {
    const family = [...this.#families.values()].find((one) => one.crowd.marketplace === name);
    if (family !== undefined) return family;
    const known = [...new Set(this.list().map((one) => one.marketplace))].join(", ") || "none";
    throw new PawlError(
      "option_invalid",
      `No crowd uses a marketplace \`${String(name)}\`. Known marketplaces: ${known}.`,
    );
  }
}

function statesOf(lifecycle: LifecycleModel, { state }: CrowdPageOptions<string>): readonly string[] | undefined {
  if (state === undefined) return undefined;
  const states = [state].flat();
  const stray = states.find((one) => !lifecycle.states.has(one));
  if (stray === undefined) return states.flatMap((one) => (one === "rejected" ? rejectedStates : one));
  const known = [...lifecycle.states.keys()].join(", ");
  throw new PawlError("option_invalid", `State \`${String(stray)}\` does not exist. Known states: ${known}.`);
}

/** A second bonus with the same key is the first one; another bonus needs a key of its own. */
function refuseOtherBonus(
  submission: string,
  paid: BonusData,
  wanted: { readonly amount: string; readonly reason: string },
): void {
  if (Number(paid.amount) === Number(wanted.amount) && paid.reason === wanted.reason) return;
  throw new PawlError(
    "idempotency_conflict",
    `Submission ${submission} has a bonus of ${paid.amount} (${JSON.stringify(paid.reason)}) under this key. Use a different \`key\` for another one of ${wanted.amount}.`,
    { submission, paid: paid.amount, wanted: wanted.amount },
  );
}

const callKeys = ["actor", "reason"];
const pageKeys = ["state", "limit", "after"];

/** The context of a call that a user waits for. */
function soon(): { readonly signal: AbortSignal } {
  return { signal: AbortSignal.timeout(30_000) };
}

function unknown(what: string, id: string): PawlError {
  return new PawlError("instance_unknown", `The crowds of this process have no ${what} ${id}.`, { id });
}
