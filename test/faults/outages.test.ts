import { setTimeout as pause } from "node:timers/promises";
import { lifecycle, type Pawl } from "pawl";
import { webhooks } from "pawl/webhooks";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { openOn, type PawlOptions } from "../../src/api/open/create.ts";
import { readGauges } from "../../src/inspect/gauges.ts";
import { sql } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { gateOf } from "../support/gate.ts";
import { type BehindProxy, openBehindProxy } from "./harm/behind-proxy.ts";
import { bringBack, installMovedClock, setAhead, takeAway } from "./harm/moved-clock.ts";
import { WebhookReceiver } from "./relays/webhook-receiver.ts";

/** Waits for the real time with PAWL_REAL_OUTAGES=1; else the database's clock is moved while it is away. */
const isReal = process.env.PAWL_REAL_OUTAGES === "1";
const lease = isReal ? "30s" : "3s";
const instances = isReal ? 200 : 60;
/** How long callers wait before they try again. */
const retryMs = isReal ? 200 : 0;

/** How often each step began, and what it waits for. */
const runs = new Map<string, number>();
let whileAway = gateOf();
let begun: () => void = () => {};

const trip = lifecycle("trip", {
  events: { confirmed: z.object({ by: z.string() }) },
  initial: "packing",
  states: {
    packing: { run: run(1), retry: { maxAttempts: 1, backoff: () => 0 }, on: { packed: "waiting" } },
    waiting: { timeout: { after: "2s", send: "called" }, on: { called: "asking" } },
    asking: { forever: true, on: { confirmed: "driving" } },
    driving: { run: run(2), retry: { maxAttempts: 1, backoff: () => 0 }, on: { driven: "unloading" } },
    unloading: { run: run(3), retry: { maxAttempts: 1, backoff: () => 0 }, on: { unloaded: "home" } },
    home: { final: "success" },
  },
});

interface Running {
  readonly idempotencyKey: string;
  readonly key: string | null;
  publish(type: string, payload: unknown): void;
  giveUp(reason: string): unknown;
}

function run(n: number) {
  return async (step: Running) => {
    runs.set(step.idempotencyKey, (runs.get(step.idempotencyKey) ?? 0) + 1);
    begun();
    // Of every three one ends during the outage, and one after it.
    const turn = Number(step.key) % 3;
    if (turn > 0) await whileAway.promise;
    if (n === 3 && isLost(Number(step.key))) return step.giveUp("The van broke down.") as undefined;
    step.publish("trip.noted", { key: step.key, n });
    return undefined;
  };
}

/** Every tenth ends in a dead letter. */
const isLost = (index: number): boolean => index % 10 === 9;

describe("outages under load", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  for (const seconds of [30, 60, 180]) {
    test(`the database is away for ${seconds} s: nothing is lost, no attempt is spent, and work goes on by itself`, async () => {
      runs.clear();
      whileAway = gateOf();
      const receiver = await WebhookReceiver.start();
      const tickets: string[] = [];
      const options = (): Partial<PawlOptions> => ({
        lifecycles: [trip],
        logger: false,
        outbox: { brokers: [webhooks(receiver.options())], onFailure: () => {} },
        alerts: [receiver.sink()],
        deadLetters: { onTicket: ({ id }) => void tickets.push(id) },
      });
      await using t = await openBehindProxy(server.url, undefined, options());
      await installMovedClock(t);
      const url = new URL(server.url);
      const [{ name }] = (await t.db.rows<{ name: string }>(sql`select current_database() as name`)) as [
        { name: string },
      ];
      url.pathname = `/${name}`;
      url.port = String(t.proxy.port);
      // A second process on the same database: each could expire the other's leases.
      const other = await openOn(await openPostgres({ url: url.href }), { lifecycles: [trip], ...options() });
      const waits = [gateOf(), gateOf()];
      const full = gateOf();
      let running = 0;
      begun = () => {
        running += 1;
        if (running >= 16) full.resolve();
      };
      const workers = [t.pawl, other.pawl].map((pawl, index) =>
        pawl.work({
          concurrency: 16,
          leaseDuration: lease,
          onFailure: () => {},
          onMove: ({ to }) => to === "ErrorWait" && waits[index]!.resolve(),
        }),
      );
      for (const { pawl } of [t, other]) pawl.relay();
      const traffic = new Traffic(t.pawl);
      const half = Array.from({ length: instances / 2 }, (_, index) => index);
      await Promise.all(half.map((index) => traffic.start(index)));
      // A third of the callbacks comes before the outage, and the others during it.
      await Promise.all(half.filter((index) => index % 3 === 0).map((index) => traffic.answer(index)));
      await full.promise;
      takeAway(t);
      const later = [
        ...half.filter((index) => index % 3 > 0).map((index) => traffic.answer(index)),
        ...half.map(async (index) => {
          await traffic.start(index + instances / 2);
          await traffic.answer(index + instances / 2);
        }),
      ];
      await Promise.all(waits.map((one) => one.promise));
      expect((await readGauges(t.kernel)).database_up).toMatchObject([{ value: 0 }]);
      whileAway.resolve();
      if (isReal) await pause(seconds * 1_000);
      else await setAhead(t, seconds);
      const [refused, backAt] = [traffic.refused, performance.now()];
      bringBack(t);
      await Promise.all(later);
      const lost = Array.from({ length: instances }, (_, index) => index).filter(isLost).length;
      await allEnded(t, { home: instances - lost, failed: lost });
      const endedMs = performance.now() - backAt;
      const noted = new Map(
        Array.from({ length: instances }, (_, index) => [String(index), isLost(index) ? 2 : 3] as const),
      );
      await receiver.deliveries.whenArrived([...noted.values()].reduce((sum, one) => sum + one, 0));
      const told = () => [receiver.alerts.length >= lost, tickets.length >= lost];
      await vi.waitFor(() => expect(told()).toEqual([true, true]), 180_000);
      await vi.waitFor(async () => expect(await t.pawl.outbox.status()).toMatchObject({ pending: 0 }), 60_000);
      console.info(
        `${seconds} s: ${instances} instances, ${refused} calls refused meanwhile, all ended ${Math.round(endedMs)} ms ` +
          `after, all told ${Math.round(performance.now() - backAt)} ms after; webhooks: ${receiver.deliveries.count}, ` +
          `${receiver.deliveries.repeated} of them repeated; alerts: ${receiver.alerts.length} for ${lost} dead letters`,
      );
      await Promise.all(workers.map((worker) => worker.stop()));

      expect(receiver.deliveries.contradictions(noted, { mayRepeat: true })).toEqual([]);
      const [messages] = await t.db.rows<{ sent: number; retries: number }>(sql`
        select count(*) filter (where status = 'published')::int as sent, max(retry_count)::int as retries
        from pawl.messages`);
      expect(messages).toEqual({ sent: instances * 3 - lost, retries: 0 });
      const [answers] = await t.db.rows<{ instances: number; moves: number }>(sql`
        select count(distinct instance_id)::int as instances, count(*)::int as moves from pawl.journal
        where event = 'confirmed'`);
      expect(answers).toEqual({ instances, moves: instances });
      const [spent] = await t.db.rows<{ most: number; failed: number; lapsed: number }>(sql`
        select coalesce(max(attempt), 1)::int as most, count(*) filter (where what = 'failed')::int as failed,
          count(*) filter (where what = 'lapsed')::int as lapsed
        from pawl.attempts where task_id = instance_id`);
      expect(spent).toEqual({ most: 1, failed: 0, lapsed: 0 });
      expect([...runs.values()].filter((times) => times > 1)).toEqual([]);
      expect(runs.size).toBe(instances * 3);
      const letters = await t.pawl.deadLetters.list({ lifecycle: trip });
      expect(letters.map(({ key }) => Number(key)).sort((a, b) => a - b)).toEqual(
        Array.from({ length: instances }, (_, index) => index).filter(isLost),
      );
      expect([...new Set(tickets)].sort()).toEqual(letters.map(({ id }) => id).sort());
      expect(new Set(receiver.alerts.map(({ id }) => id)).size).toBe(lost);
      expect(new Set(receiver.alerts.map(({ key }) => key)).size).toBe(lost);
      expect(await t.pawl.inspect.verify()).toEqual([]);
      await other.pawl.close();
      await receiver.stop();
    }, 600_000);
  }
});

/** Callers that try again until their call is acknowledged, as a queue or a webhook's sender does. */
class Traffic {
  refused = 0;
  readonly #pawl: Pawl;

  constructor(pawl: Pawl) {
    this.#pawl = pawl;
  }

  start(index: number): Promise<void> {
    return this.#untilDone(() => this.#pawl.start(trip, { key: String(index) }));
  }

  answer(index: number): Promise<void> {
    const to = String(index);
    return this.#untilDone(() => this.#pawl.receive(trip, to, "confirmed", { by: to }, { dedupeKey: `answer-${to}` }));
  }

  async #untilDone(call: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await call();
        return;
      } catch {
        this.refused += 1;
        await pause(retryMs);
      }
    }
  }
}

async function allEnded(t: BehindProxy, wanted: { home: number; failed: number }): Promise<void> {
  for (;;) {
    const [row] = await t.db.rows<{ home: number; failed: number }>(sql`
      select count(*) filter (where state = 'home')::int as home, count(*) filter (where state = 'failed')::int as failed
      from pawl.instances`);
    if (row!.failed > wanted.failed) throw new Error(`${row!.failed} instances failed instead of ${wanted.failed}.`);
    if (row!.home === wanted.home && row!.failed === wanted.failed) return;
    await pause(20);
  }
}
