import { PawlError } from "../../base/errors.ts";
import { compute } from "../../base/guard.ts";
import { checkedOptions } from "../../base/options.ts";
import { PermanentError } from "../../base/step-errors.ts";
import {
  type Bonus,
  CannotExtend,
  type Capabilities,
  type Decided,
  type Decision,
  type Extension,
  type Marketplace,
  type MarketplaceContext,
  type Posting,
  type RemoteJob,
  type RemoteSubmission,
} from "../marketplace.ts";
import { isSubmitted, MemoryJobs, submissionOf } from "./memory-jobs.ts";
import { MemoryWorkers } from "./memory-workers.ts";

export interface MemoryMarketplaceOptions {
  /**
   * Returns the current time in milliseconds.
   * @default the system clock
   */
  readonly now?: () => number;
  /**
   * Whether a rejected submission frees its place; on Mechanical Turk it never does.
   * @default false
   */
  readonly rejectionReopens?: boolean;
  /**
   * The places from which on a job that was published with fewer cannot be extended; 10 on Mechanical Turk.
   * @default no limit
   */
  readonly staysBelow?: number;
}

/** What can be made to fail. */
export type MarketplaceCall = Exclude<keyof Marketplace, "title" | "can" | "sandbox" | "check" | "shutdown">;

/** How a call fails: before it is done, or after, so that only its reply is lost. */
export interface MarketplaceFault {
  readonly before?: Error;
  readonly after?: Error;
  /**
   * How many calls fail this way.
   * @default 1
   */
  readonly times?: number;
}

/**
 * A marketplace in the memory of this process, with the rules of Mechanical Turk: for tests and demos. Who works there is
 * played by `workers`.
 *
 * ```ts
 * const market = memoryMarketplace();
 * const pawl = await createPawl({ lifecycles: [], crowds: [receipts], marketplaces: { mturk: market } });
 * const [job] = market.workers.openJobs();
 * market.workers.work(job!.id, "W1", { total: 12.5 });
 * ```
 */
export function memoryMarketplace(options: MemoryMarketplaceOptions = {}): MemoryMarketplace {
  return new MemoryMarketplace(checkedOptions(options, ["now", "rejectionReopens", "staysBelow"], "memoryMarketplace"));
}

const pageSize = 100;
const tokenLength = 64;

export class MemoryMarketplace implements Marketplace {
  readonly title = "the in-memory marketplace";
  readonly can: Capabilities;
  readonly workers: MemoryWorkers;
  /** Payments in addition to rewards. */
  readonly bonuses: Bonus[] = [];
  readonly #jobs: MemoryJobs;
  readonly #staysBelow: number;
  readonly #faults: { call: MarketplaceCall; before?: Error; after?: Error; left: number }[] = [];

  /** @internal Use `memoryMarketplace`. */
  constructor({ now = Date.now, rejectionReopens = false, staysBelow = Infinity }: MemoryMarketplaceOptions) {
    if (typeof now !== "function") {
      throw new PawlError("option_invalid", "memoryMarketplace: `now` must be a function that returns milliseconds.");
    }
    this.can = { rejectionReopens, bonus: true };
    this.#staysBelow = staysBelow;
    this.#jobs = new MemoryJobs(() => timeOf(now), rejectionReopens);
    this.workers = new MemoryWorkers(this.#jobs);
  }

  /** Makes the next calls of one kind fail, before or after they take effect. */
  fail(call: MarketplaceCall, { before, after, times = 1 }: MarketplaceFault): void {
    if (typeof this[call] !== "function") {
      throw new PawlError("option_invalid", `market.fail: a marketplace has no call ${JSON.stringify(call)}.`);
    }
    if ((before === undefined) === (after === undefined)) {
      throw new PawlError("option_invalid", "market.fail: set `before` or `after` to the error to throw.");
    }
    this.#faults.push({ call, ...(before && { before }), ...(after && { after }), left: times });
  }

  /** Overrides a rejection, as a requester can do by hand on Mechanical Turk, without a notification. */
  overrideRejection(submission: string): void {
    const one = this.#jobs.submission(submission);
    if (one.status === "rejected") one.status = "approved";
    else
      throw new PawlError(
        "not_allowed",
        `Submission ${submission} is ${one.status}, and only a rejection can be overridden.`,
      );
  }

  check(): readonly string[] {
    return [];
  }

  publish(posting: Posting, call: MarketplaceContext): Promise<RemoteJob> {
    return this.#answer("publish", call, () => {
      checkToken(posting.token);
      if (!(Number.isInteger(posting.places) && posting.places > 0)) {
        throw new PermanentError(`A job needs at least one place; \`places\` is ${posting.places}.`);
      }
      return this.#jobs.show(this.#jobs.put(posting));
    });
  }

  job(id: string, call: MarketplaceContext): Promise<RemoteJob | undefined> {
    return this.#answer("job", call, () => {
      const job = this.#jobs.find(id);
      return job && this.#jobs.show(job);
    });
  }

  jobs(after: string | undefined, call: MarketplaceContext): Promise<{ jobs: RemoteJob[]; next?: string }> {
    return this.#answer("jobs", call, () => {
      // Ids rise with time, so a page begins after the last id even if its job is gone.
      const rest = this.#jobs.list().filter((job) => after === undefined || job.id > after);
      const page = rest.slice(0, pageSize);
      const jobs = page.map((job) => this.#jobs.show(job));
      return rest.length > pageSize ? { jobs, next: page.at(-1)!.id } : { jobs };
    });
  }

  submissions(job: string, call: MarketplaceContext): Promise<RemoteSubmission[]> {
    return this.#answer("submissions", call, () =>
      [...this.#jobs.get(job).assignments.values()].filter(isSubmitted).map(submissionOf),
    );
  }

  decide(submission: string, { verdict, feedback }: Decision, call: MarketplaceContext): Promise<Decided> {
    return this.#answer("decide", call, () => {
      const one = this.#jobs.submission(submission);
      if (one.status !== "submitted") return { verdict: one.status as Decided["verdict"], already: true };
      if (verdict === "rejected" && (feedback ?? "").trim() === "") {
        throw new PermanentError(`Submission ${submission} cannot be rejected without a message to its worker.`);
      }
      one.status = verdict;
      one.feedback = feedback;
      return { verdict, already: false };
    });
  }

  extend(id: string, { token, places, until }: Extension, call: MarketplaceContext): Promise<RemoteJob> {
    return this.#answer("extend", call, () => {
      checkToken(token);
      const job = this.#jobs.get(id);
      if (job.extensions.has(token)) return this.#jobs.show(job);
      if (job.posting.places < this.#staysBelow && places >= this.#staysBelow) {
        const why = `it was published with ${job.posting.places} places, so it can never have ${this.#staysBelow}`;
        throw new CannotExtend(`Job ${id} cannot have ${places} places: ${why}.`);
      }
      job.extensions.add(token);
      job.places = Math.max(job.places, places);
      job.expiresMs = Math.max(job.expiresMs, until?.getTime() ?? 0);
      return this.#jobs.show(job);
    });
  }

  close(id: string, call: MarketplaceContext): Promise<void> {
    return this.#answer("close", call, () => {
      const job = this.#jobs.find(id);
      if (job !== undefined) job.expiresMs = Math.min(job.expiresMs, this.#jobs.now());
    });
  }

  dispose(id: string, call: MarketplaceContext): Promise<void> {
    return this.#answer("dispose", call, () => {
      const job = this.#jobs.find(id);
      if (job === undefined) return;
      const pending = this.#jobs.pending(job);
      const undecided = [...job.assignments.values()].filter((one) => one.status === "submitted").length;
      const why = [
        this.#jobs.show(job).open && "workers can still start it",
        pending > 0 && `${pending} work on it`,
        undecided > 0 && `${undecided} submissions are undecided`,
      ].filter((one) => one !== false);
      if (why.length > 0) throw new Error(`Job ${id} cannot be deleted yet: ${why.join(", ")}.`);
      this.#jobs.remove(job);
    });
  }

  bonus(bonus: Bonus, call: MarketplaceContext): Promise<void> {
    return this.#answer("bonus", call, () => {
      checkToken(bonus.token);
      if (this.bonuses.some((paid) => paid.token === bonus.token)) return;
      const { worker } = this.#jobs.submission(bonus.submission);
      if (worker !== bonus.worker) {
        throw new PermanentError(`Submission ${bonus.submission} is by ${worker}, not by ${bonus.worker}.`);
      }
      this.bonuses.push(bonus);
    });
  }

  balance(call: MarketplaceContext): Promise<string | null> {
    return this.#answer("balance", call, () => null);
  }

  async shutdown(): Promise<void> {}

  /** Performs the call, unless a fault is planted before it, or for its reply. */
  async #answer<T>(name: MarketplaceCall, { signal }: MarketplaceContext, act: () => T): Promise<T> {
    signal.throwIfAborted();
    const fault = this.#faults.find((one) => one.call === name && one.left > 0);
    if (fault !== undefined) fault.left -= 1;
    if (fault?.before !== undefined) throw fault.before;
    const done = act();
    if (fault?.after !== undefined) throw fault.after;
    return done;
  }
}

function timeOf(now: () => number): number {
  const ms: unknown = compute("hook_failed", "`now` of memoryMarketplace()", now);
  if (Number.isFinite(ms)) return ms as number;
  throw new PawlError("hook_failed", "`now` of memoryMarketplace() must return milliseconds.");
}

function checkToken(token: string): void {
  if (typeof token === "string" && token !== "" && token.length <= tokenLength) return;
  throw new PermanentError(`A token must have 1 to ${tokenLength} characters; it is ${JSON.stringify(token)}.`);
}
