import type { MturkOptions } from "pawl/mturk";
import { afterAll, beforeAll, expect } from "vitest";
import { guardMarketplace } from "../../src/crowd/guard-marketplace.ts";
import { call, type Market, openMarket } from "../crowd/mturk-market.ts";
import { breaking, impatiently } from "./ways.ts";

// Functions among the options of Mechanical Turk: a call of the marketplace fails of them, and other marketplaces go on.

let good: Market;
beforeAll(async () => {
  good = await openMarket();
});
afterAll(() => good?.[Symbol.asyncDispose]());

/** A marketplace on the same server whose option is broken. */
async function broken(options: MturkOptions) {
  const own = await openMarket(options);
  return { ...own, marketplace: guardMarketplace(own.marketplace) };
}

async function failsToPublish(options: MturkOptions): Promise<void> {
  const own = await broken(options);
  const published = impatiently(() => own.marketplace.publish(own.posting(), call));
  await expect(published).rejects.toThrow();
  await own.marketplace.shutdown();
  await own.server.stop();
  expect(await good.marketplace.publish(good.posting(), call)).toMatchObject({ open: true });
}

breaking("MturkOptions.question", (_, question) => failsToPublish({ question }));
breaking("MturkOptions.credentials", (_, credentials) => failsToPublish({ credentials }));

breaking("MturkOptions.answer", async (_, answer) => {
  const own = await broken({ answer });
  const job = await own.marketplace.publish(own.posting(), call);
  own.server.workers.work(job.id, "W1", { total: "12.5" });
  const [submission] = await own.marketplace.submissions(job.id, call);
  expect(submission?.answer).toEqual({ $raw: expect.any(String) }); // For the schema of the label to refuse.
  await own.marketplace.shutdown();
  await own.server.stop();
});
