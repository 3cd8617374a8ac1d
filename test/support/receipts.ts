import { type Crowd, type CrowdDefinition, crowd, lifecycle } from "pawl";
import { type MemoryMarketplace, memoryMarketplace } from "pawl/testing";
import { z } from "zod";
import type { TestPawl, TestPawlOptions } from "../../src/testing/test-pawl.ts";
import type { Store } from "./each-store.ts";

const Receipt = z.object({ total: z.number(), currency: z.enum(["EUR", "USD"]).optional() });
type Label = z.infer<typeof Receipt>;

type Changes = Partial<Omit<CrowdDefinition<typeof Receipt>, "label" | "marketplace">>;

/** A crowd that reads receipts on the marketplace in memory, by the clock that the test moves. */
export class Receipts {
  readonly t: TestPawl;
  readonly market: MemoryMarketplace;
  readonly receipts: Crowd<Label>;
  readonly expense: ReturnType<typeof expenseOf>;

  constructor(given: Pick<Receipts, "t" | "market" | "receipts" | "expense">) {
    this.t = given.t;
    this.market = given.market;
    this.receipts = given.receipts;
    this.expense = given.expense;
  }

  /** A question to the crowd, published. */
  async ask(key = "r"): Promise<string> {
    const { id } = await this.t.pawl.crowd.ask(this.receipts, { key, content: { image: key } });
    await this.t.work();
    return id;
  }

  /**
   * Workers who read a total each (or all that there is to read) and submit it; returns their submissions' ids at the
   * marketplace.
   */
  submit(job: string, totals: Readonly<Record<string, unknown>>): string[] {
    return Object.entries(totals).map(([worker, total]) => {
      const posting = this.market.workers.jobsOf(job).find((one) => one.open)!;
      const answer = typeof total === "object" ? total : { total };
      return this.market.workers.work(posting.id, worker, answer as Label);
    });
  }

  /** The job syncs with the marketplace, and all that follows is done. */
  async look(job: string): Promise<void> {
    await this.t.pawl.crowd.sync(job);
    await this.t.work();
  }

  /** The submissions of a job by their worker. */
  async submissions(job: string): Promise<Record<string, string>> {
    const found = await this.t.pawl.crowd.submissions({ job });
    return Object.fromEntries(found.map((one) => [one.worker, one.state]).sort());
  }

  async state(job: string): Promise<string> {
    return (await this.t.pawl.crowd.job(job))!.state;
  }

  /** The history of a job, or of a submission. */
  async moves(id: string, part: "crowd" | "submission" | "disposal" = "crowd"): Promise<string[]> {
    const of = this.t.pawl.internalLifecycles.find((one) => one.name === `pawl_${part}_receipts`)!;
    return (await this.t.pawl.journal(of, { id })).map((move) => `${move.event}: ${move.to}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.t[Symbol.asyncDispose]();
  }
}

/** An expense, whose receipt a crowd reads. */
function expenseOf(receipts: Crowd<Label>) {
  return lifecycle("expense", {
    data: z.object({ image: z.string(), total: z.number().optional(), why: z.string().optional() }),
    initial: "reading",
    states: {
      reading: {
        ask: { crowd: receipts, sample: ({ data }) => ({ image: data.image }) },
        on: {
          answered: { to: "read", set: ({ payload }) => ({ total: payload.consensus.total }) },
          unanswered: { to: "unreadable", set: ({ payload }) => ({ why: payload.reason }) },
          withdraw: "withdrawn",
        },
      },
      read: { final: "success" },
      unreadable: { final: "failure" },
      withdrawn: { final: "failure" },
    },
  });
}

export async function openReceipts(
  store: Store,
  changes: Changes = {},
  options: Partial<TestPawlOptions> & { readonly market?: Parameters<typeof memoryMarketplace>[0] } = {},
): Promise<Receipts> {
  const receipts = crowd("receipts", { label: Receipt, marketplace: "memory", ...changes });
  const expense = expenseOf(receipts);
  const { market: given, ...rest } = options;
  let t: TestPawl | undefined;
  const market = memoryMarketplace({ now: () => t!.now().getTime(), ...given });
  t = await store.open({ lifecycles: [expense], crowds: [receipts], marketplaces: { memory: market }, ...rest });
  return new Receipts({ t, market, receipts, expense });
}
