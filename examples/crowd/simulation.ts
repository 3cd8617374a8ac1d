import { setTimeout as rest } from "node:timers/promises";
import {
  type CrowdJob,
  type CrowdSubmission,
  createPawl,
  type Instance,
  type Pawl,
  TransientError,
  type Violation,
} from "pawl";
import { type MemoryAssignment, type MemoryJob, memoryMarketplace } from "pawl/testing";
import { Floor, type Tally } from "./floor.ts";
import { Ledger } from "./ledger.ts";
import { Operator } from "./operator.ts";
import { papers } from "./papers.ts";
import { Post } from "./post.ts";
import { handIn, type ReceiptLifecycle, receiptLifecycle } from "./receipts.ts";

export interface SimulationOptions {
  readonly seed: number;
  /** A PostgreSQL URL; without one, the database is embedded in `folder`. */
  readonly database: string | undefined;
  readonly folder: string;
}

/** The state at one moment. */
export interface Look {
  readonly receipts: ReadonlyMap<string, number>;
  readonly submissions: ReadonlyMap<string, number>;
  readonly isOver: boolean;
}

/** A question with its results. */
export interface Asking {
  readonly receipt: Instance<ReceiptLifecycle["receipt"]>;
  readonly job: CrowdJob;
  readonly submissions: readonly CrowdSubmission[];
}

export interface Result {
  readonly askings: readonly Asking[];
  /** The same at the marketplace. */
  readonly there: { readonly postings: readonly MemoryJob[]; readonly submissions: readonly MemoryAssignment[] };
  readonly workers: ReadonlyMap<string, Readonly<Tally>>;
  readonly bonuses: readonly { readonly worker: string; readonly amount: string }[];
  readonly calls: ReturnType<Ledger["tallies"]>;
  readonly post: Pick<Post, "sent" | "lost" | "twice" | "inVain">;
  readonly operator: Pick<Operator, "decided">;
  readonly violations: readonly Violation[];
}

const restMs = 50;
/** More than the crowd's lifetime: a week without any work. */
const weekMs = 8 * 24 * 60 * 60_000;

/** Receipts, the crowd that reads them, its marketplace with its workers, and an operator, in one process. */
export class Simulation {
  readonly #pawl: Pawl;
  readonly #own: ReceiptLifecycle;
  readonly #ledger: Ledger;
  readonly #floor: Floor;
  readonly #post: Post;
  readonly #operator: Operator;
  readonly #clock: { aheadMs: number };
  readonly #goHome = new AbortController();
  #working: Promise<void> = Promise.resolve();
  #bonus: string | undefined;

  private constructor(pawl: Pawl, own: ReceiptLifecycle, ledger: Ledger, clock: { aheadMs: number }, seed: number) {
    this.#pawl = pawl;
    this.#own = own;
    this.#ledger = ledger;
    this.#clock = clock;
    this.#floor = new Floor(ledger.market, seed);
    this.#post = new Post(pawl, seed);
    this.#operator = new Operator(pawl);
  }

  static async open({ seed, database, folder }: SimulationOptions): Promise<Simulation> {
    const clock = { aheadMs: 0 };
    const ledger = new Ledger(memoryMarketplace({ now: () => Date.now() + clock.aheadMs }));
    const own = receiptLifecycle({ marketplace: "memory", submissions: 3, syncInterval: "500ms" });
    const marketplaces = { memory: ledger };
    const pawl = await createPawl({ database, folder, lifecycles: [own.receipt], marketplaces, logger: false });
    return new Simulation(pawl, own, ledger, clock, seed);
  }

  /** Asks the questions, and starts the workers. */
  async begin(): Promise<void> {
    this.#loseReplies();
    // Under keys of this run alone: a database may hold others.
    await handIn(this.#pawl, this.#own, Date.now().toString(36));
    this.#pawl.work({ maintenanceInterval: "100ms", pollInterval: "100ms" });
    this.#working = this.#work();
    this.#working.catch(() => this.#goHome.abort()); // Returned by `look`.
  }

  /** Faults: a call takes effect and its reply is lost; or it never arrives. */
  #loseReplies(): void {
    const { market } = this.#ledger;
    const lost = () => new TransientError("The connection broke.", { retryAfterMs: 300 });
    for (const call of ["publish", "decide", "extend", "bonus"] as const) market.fail(call, { after: lost() });
    market.fail("decide", { after: lost(), times: 2 });
    market.fail("submissions", { before: lost(), times: 3 });
  }

  async #work(): Promise<void> {
    while (!this.#goHome.signal.aborted) {
      for (const posting of await this.#floor.work()) await this.#post.bring(posting);
      const askings = await this.#askings();
      await this.#operator.lookAt(askings.flatMap(({ submissions }) => submissions));
      if (this.#clock.aheadMs === 0 && this.#isQuiet(askings)) {
        await this.#praise(askings);
        this.#clock.aheadMs = weekMs;
      }
      await rest(restMs, undefined, { signal: this.#goHome.signal }).catch(() => {});
    }
  }

  /** Everything is decided except the overlooked one; only time can change that. */
  #isQuiet(askings: readonly Asking[]): boolean {
    const all = askings.flatMap(({ submissions }) => submissions);
    const isDecided = ({ id, state }: CrowdSubmission) =>
      state === "approved" || state === "rejected" || id === this.#operator.overlooked;
    return (
      askings.length === papers.length &&
      this.#floor.isIdle &&
      all.length === this.#floor.submissions.length &&
      all.every(isDecided) &&
      askings.every(({ job }) => job.closedAt !== null || job.state === "running")
    );
  }

  /** A bonus for the most careful worker, requested twice by mistake. */
  async #praise(askings: readonly Asking[]): Promise<void> {
    const all = askings.flatMap(({ submissions }) => submissions);
    const best = all.find(({ worker, state }) => worker === "W-ADA" && state === "approved")!;
    const bonus = { amount: "1.00", reason: "You read everything right.", actor: "grace" };
    for (let time = 0; time < 2; time++) this.#bonus = (await this.#pawl.crowd.bonus(best.id, bonus)).id;
  }

  async #isPraised(): Promise<boolean> {
    const bonus = this.#bonus === undefined ? undefined : await this.#pawl.lifecycleOf(this.#bonus);
    return bonus !== undefined && (await this.#pawl.get(bonus, { id: this.#bonus! }))?.state === "paid";
  }

  async look(): Promise<Look> {
    if (this.#goHome.signal.aborted) await this.#working;
    const askings = await this.#askings();
    const isRead = askings.length === papers.length && askings.every(({ receipt }) => receipt.outcome !== null);
    return {
      receipts: countBy(askings, ({ receipt }) => receipt.state),
      submissions: countBy(
        askings.flatMap(({ submissions }) => submissions),
        ({ state }) => state,
      ),
      isOver: isRead && (await this.#isPraised()),
    };
  }

  /** The questions of this run, which are the newest, in their order. */
  async #askings(): Promise<Asking[]> {
    const { crowd } = this.#pawl;
    const { receipt, readers } = this.#own;
    const receipts = await this.#pawl.list(receipt, { limit: papers.length });
    const jobs = await crowd.jobs(readers, { limit: papers.length });
    const submissions = await crowd.submissions(readers, { limit: 1_000 });
    return jobs
      .flatMap((job) => {
        const { shop } = job.content as { shop: string };
        const asker = receipts.find((one) => one.data.shop === shop);
        const own = submissions.filter(({ jobId }) => jobId === job.id);
        return asker === undefined ? [] : [{ receipt: asker, job, submissions: own }];
      })
      .sort((one, other) => (one.receipt.key! < other.receipt.key! ? -1 : 1));
  }

  async result(): Promise<Result> {
    await this.#sendHome();
    const askings = await this.#askings();
    const { market } = this.#ledger;
    const postings = askings.flatMap(({ job }) => market.workers.jobsOf(job.id));
    return {
      askings,
      there: { postings, submissions: this.#floor.submissions },
      workers: this.#floor.tallies,
      bonuses: market.bonuses,
      calls: this.#ledger.tallies(),
      post: this.#post,
      operator: this.#operator,
      violations: await this.#pawl.inspect.verify(),
    };
  }

  async #sendHome(): Promise<void> {
    this.#goHome.abort();
    await this.#working;
  }

  async close(): Promise<void> {
    await this.#sendHome().catch(() => {}); // Was printed already.
    await this.#pawl.close();
  }
}

function countBy<One>(all: readonly One[], by: (one: One) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(by(one), (counts.get(by(one)) ?? 0) + 1);
  return counts;
}
