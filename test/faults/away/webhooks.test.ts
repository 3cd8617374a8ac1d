import { constant, lifecycle } from "pawl";
import { webhooks } from "pawl/webhooks";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { sql } from "../../../src/store/port/db.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { type PostgresServer, startPostgres } from "../../setup/postgres.ts";
import { onPostgres } from "../../setup/suites.ts";
import { eachStore } from "../../support/each-store.ts";
import { metric } from "../../support/metric.ts";
import { openBehindProxy } from "../harm/behind-proxy.ts";
import { bringBack, installMovedClock, setAhead, takeAway } from "../harm/moved-clock.ts";
import { WebhookReceiver } from "../relays/webhook-receiver.ts";

const minutes = 3;

const visit = lifecycle("visit", {
  initial: "broken",
  states: {
    broken: {
      run: () => {
        throw new Error("It is broken.");
      },
      retry: { maxAttempts: 1, backoff: constant("1s") },
      on: { done: "over" },
    },
    over: { final: "success" },
  },
});

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await receiver.stop();
});

/** The process's own clock, which endpoints rest by, moved together with the database's. */
function movedProcessClock(): (seconds: number) => void {
  const real = performance.now.bind(performance);
  let aheadMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => real() + aheadMs);
  return (seconds) => {
    aheadMs += seconds * 1_000;
  };
}

const publish = async (t: TestPawl, key: string, count: number) => {
  for (let n = 1; n <= count; n++)
    await t.pawl.publish("visit.noted", { key, n }, { aggregate: { type: "visit", id: key } });
};

eachStore((store) => {
  test("a receiver that is away for minutes gets every message once and in order, and no attempt is spent", async () => {
    const passHere = movedProcessClock();
    await using t = await store.open({
      lifecycles: [visit],
      outbox: { brokers: [webhooks(receiver.options())], onFailure: () => {} },
    });
    await receiver.goAway();
    await Promise.all(["a", "b"].map((key) => publish(t, key, 3)));
    for (let second = 0; second < minutes * 60; second += 20) {
      await t.relay();
      await t.advance("20s");
      passHere(20);
    }
    const waiting = await t.pawl.outbox.messages({ status: "pending" });
    expect(waiting.map(({ retryCount }) => retryCount)).toEqual(Array(6).fill(0));
    expect(metric(await t.pawl.inspect.metrics(), "pawl_outbox_oldest_pending_seconds")).toBeGreaterThanOrEqual(
      minutes * 60,
    );
    expect((await t.pawl.inspect.overview()).needs.map(({ what }) => what)).toContain("outbox");
    await receiver.comeBack();
    for (let round = 0; (await t.pawl.outbox.status()).pending > 0; round++) {
      expect(round, "it goes on within the rest of an endpoint").toBeLessThan(20);
      await t.advance("60s");
      passHere(60);
      await t.relay();
    }
    const published = new Map([
      ["a", 3],
      ["b", 3],
    ]);
    expect(receiver.deliveries.contradictions(published, { mayRepeat: false })).toEqual([]);
    expect((await t.pawl.outbox.messages({ status: "published" })).every(({ retryCount }) => retryCount === 0)).toBe(
      true,
    );
  });

  test("alerts whose webhook is away for minutes are told once, and show meanwhile that they wait", async () => {
    const passHere = movedProcessClock();
    await using t = await store.open({ lifecycles: [visit], alerts: [receiver.sink()] });
    await receiver.goAway();
    await Promise.all(["x", "y"].map((key) => t.pawl.start(visit, { key })));
    await t.work();
    for (let second = 0; second < minutes * 60; second += 20) {
      await t.deliverAlerts();
      await t.advance("20s");
      passHere(20);
    }
    const gauge = "pawl_alerts_oldest_undelivered_seconds";
    expect(metric(await t.pawl.inspect.metrics(), gauge)).toBeGreaterThanOrEqual(minutes * 60);
    expect((await t.pawl.inspect.overview()).needs).toContainEqual(
      expect.objectContaining({ what: "alerts", level: "warn" }),
    );
    await receiver.comeBack();
    for (let round = 0; receiver.alerts.length < 2; round++) {
      expect(round, "it goes on within the pause between attempts").toBeLessThan(20);
      await t.advance("60s");
      passHere(60);
      await t.deliverAlerts();
    }
    expect(receiver.alerts.map(({ key }) => key).sort()).toEqual(["x", "y"]);
    expect(metric(await t.pawl.inspect.metrics(), gauge)).toBe(0);
    expect((await t.pawl.inspect.overview()).needs.map(({ what }) => what)).not.toContain("alerts");
  });
});

onPostgres("PostgreSQL away under a relay", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test("what was sent before it went away for minutes is written down when it is back, and is not sent again", async () => {
    const outbox = { brokers: [webhooks(receiver.options())], pollInterval: "100ms", onFailure: () => {} } as const;
    await using t = await openBehindProxy(server.url, undefined, { lifecycles: [visit], outbox });
    await installMovedClock(t);
    for (let n = 1; n <= 20; n++)
      await t.pawl.publish("visit.noted", { key: "a", n }, { aggregate: { type: "visit", id: "a" } });
    // The database goes away in the middle of the batch, between a message's arrival and the word about it.
    receiver.onArrival = (n) => n === 10 && takeAway(t);
    t.pawl.relay();
    await receiver.deliveries.whenArrived(20);
    await setAhead(t, minutes * 60);
    bringBack(t);
    await vi.waitFor(async () => {
      const [left] = await t.db.rows<{ left: number }>(sql`
        select count(*) filter (where status = 'pending')::int as left from pawl.messages`);
      expect(left).toEqual({ left: 0 });
    }, 60_000);
    expect(receiver.deliveries.contradictions(new Map([["a", 20]]), { mayRepeat: false })).toEqual([]);
    const [retries] = await t.db.rows<{ retries: number }>(sql`
      select max(retry_count)::int as retries from pawl.messages`);
    expect(retries).toEqual({ retries: 0 });
  }, 120_000);
});
