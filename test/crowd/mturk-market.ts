import { idMaker } from "../../src/base/ids.ts";
import type { Marketplace, MarketplaceContext, Posting } from "../../src/crowd/marketplace.ts";
import { mturk } from "../../src/crowd/marketplaces/mturk/mturk.ts";
import type { MturkOptions } from "../../src/crowd/marketplaces/mturk/options.ts";
import { crowd } from "../../src/definition/crowd.ts";
import { MturkServer } from "../support/mturk-server/server.ts";

export const call: MarketplaceContext = { signal: new AbortController().signal };

/** Whoever reads a receipt tells what it says. */
export const receipts = crowd("receipts", {
  label: {
    type: "object",
    properties: { total: { type: "number" }, currency: { enum: ["EUR", "USD"] } },
    required: ["total"],
  },
  marketplace: "mturk",
  submissions: 3,
  title: "Read a receipt",
  description: "Type what the receipt says.",
  keywords: ["receipt", "text"],
  reward: "0.05",
  approvedAfter: "3d",
});

export interface Market extends AsyncDisposable {
  readonly server: MturkServer;
  readonly marketplace: Marketplace;
  /** A posting of its own each time. */
  readonly posting: (changes?: Partial<Posting>) => Posting;
}

/** Mechanical Turk through the real SDK, at a server on this machine whose clock is also the marketplace's. */
export async function openMarket(options: MturkOptions = {}): Promise<Market> {
  const server = await MturkServer.start();
  const marketplace = mturk({
    endpoint: server.url,
    credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" },
    now: () => server.world.now,
    ...options,
  });
  const makeId = idMaker(() => server.world.now);
  return {
    server,
    marketplace,
    posting: (changes = {}) => ({
      token: makeId(),
      owner: makeId(),
      crowd: receipts,
      content: { image: "https://receipts.test/1.png" },
      form: receipts.form,
      places: 3,
      lifetimeMs: 7 * 24 * 3_600_000,
      excludes: [],
      ...changes,
    }),
    async [Symbol.asyncDispose]() {
      await marketplace.shutdown();
      await server.stop();
    },
  };
}

export const hour = 3_600_000;
