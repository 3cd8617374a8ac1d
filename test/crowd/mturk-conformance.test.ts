import type { Json } from "pawl";
import { marketplaceConformance } from "./conformance.ts";
import { openMarket } from "./mturk-market.ts";

marketplaceConformance("Mechanical Turk", async () => {
  const market = await openMarket();
  const { marketplace, server } = market;
  return {
    marketplace,
    accept: async (job, worker) => server.workers.accept(job, worker),
    submit: async (held, answer) => server.workers.submit(held, posted(answer)),
    giveBack: async (held) => server.workers.giveBack(held),
    advance: async (ms) => server.world.advance(ms),
    approvesByItself: true,
    excludes: true,
    staysBelow: 10,
    bonuses: () => server.world.payments.length,
    close: async () => market[Symbol.asyncDispose](),
  };
});

/** What a browser sends for an answer that is made of texts. */
function posted(answer: Json): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(answer as object).map(([name, text]) => [name, String(text)]));
}
