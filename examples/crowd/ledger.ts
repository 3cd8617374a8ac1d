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
} from "pawl";
import type { MemoryMarketplace } from "pawl/testing";

/** Calls that cost money, and must take effect once however often they are repeated. */
const dear = ["publish", "extend", "decide", "bonus"] as const;

type Dear = (typeof dear)[number];

/** How often it was requested, and for how many different things. */
export interface Calls {
  readonly calls: number;
  readonly different: number;
}

/** A marketplace that records all calls and forwards them: the proof of the example. */
export class Ledger implements Marketplace {
  readonly market: MemoryMarketplace;
  readonly #asked: { readonly what: Dear; readonly token: string }[] = [];
  readonly title: string;
  readonly can: Marketplace["can"];

  constructor(market: MemoryMarketplace) {
    this.market = market;
    this.title = market.title;
    this.can = market.can;
  }

  tallies(): Readonly<Record<Dear, Calls>> {
    const tallies = dear.map((what): [Dear, Calls] => {
      const tokens = this.#asked.filter((one) => one.what === what).map(({ token }) => token);
      return [what, { calls: tokens.length, different: new Set(tokens).size }];
    });
    return Object.fromEntries(tallies) as Record<Dear, Calls>;
  }

  check(): readonly string[] {
    return this.market.check();
  }

  publish(posting: Posting, call: MarketplaceContext): Promise<RemoteJob> {
    this.#asked.push({ what: "publish", token: posting.token });
    return this.market.publish(posting, call);
  }

  decide(submission: string, decision: Decision, call: MarketplaceContext): Promise<Decided> {
    this.#asked.push({ what: "decide", token: submission });
    return this.market.decide(submission, decision, call);
  }

  extend(job: string, extension: Extension, call: MarketplaceContext): Promise<RemoteJob> {
    this.#asked.push({ what: "extend", token: extension.token });
    return this.market.extend(job, extension, call);
  }

  bonus(bonus: Bonus, call: MarketplaceContext): Promise<void> {
    this.#asked.push({ what: "bonus", token: bonus.token });
    return this.market.bonus(bonus, call);
  }

  job(id: string, call: MarketplaceContext): Promise<RemoteJob | undefined> {
    return this.market.job(id, call);
  }

  jobs(after: string | undefined, call: MarketplaceContext): Promise<{ jobs: RemoteJob[]; next?: string }> {
    return this.market.jobs(after, call);
  }

  submissions(job: string, call: MarketplaceContext): Promise<RemoteSubmission[]> {
    return this.market.submissions(job, call);
  }

  close(job: string, call: MarketplaceContext): Promise<void> {
    return this.market.close(job, call);
  }

  dispose(job: string, call: MarketplaceContext): Promise<void> {
    return this.market.dispose(job, call);
  }

  balance(call: MarketplaceContext): Promise<string | null> {
    return this.market.balance(call);
  }

  shutdown(): Promise<void> {
    return this.market.shutdown();
  }
}
