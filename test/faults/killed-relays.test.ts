import { createPawl, type Pawl } from "pawl";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";
import { pointsMet } from "./harm/points.ts";
import { Random, repeat, seed } from "./harm/random.ts";
import { WorkerProcess } from "./harm/worker-process.ts";
import { Sink } from "./relays/sink.ts";
import { countersTable, writeAll } from "./relays/writers.ts";

const messages = Number(process.env.PAWL_TEST_MESSAGES ?? 1_000);
const kills = Number(process.env.PAWL_TEST_RELAY_KILLS ?? 4);
const stops = Number(process.env.PAWL_TEST_RELAY_STOPS ?? 2);

onPostgres("relays that are killed", () => {
  const random = new Random(seed);
  let store: TestStore;
  let pawl: Pawl;
  let sink: Sink;
  let sinkPort: number;
  const relays = new Set<WorkerProcess>();
  beforeEach(async () => {
    store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    await store.db.script(countersTable);
    pawl = await createPawl({ database: store.url, lifecycles: [], logger: false });
    sink = new Sink(random);
    sinkPort = await sink.listen();
  });
  afterEach(async () => {
    await Promise.all([...relays].map((relay) => relay.kill()));
    relays.clear();
    await sink.close();
    await pawl.close();
    await store.dispose();
  });

  async function begin(env: Record<string, string> = {}): Promise<WorkerProcess> {
    const own = { PAWL_VICTIM_URL: store.url!, PAWL_VICTIM_SINK: String(sinkPort), ...env };
    const relay = new WorkerProcess(own, () => {}, "test/faults/relays/relay-child.ts");
    relays.add(relay);
    await relay.ready;
    return relay;
  }

  /** Its leases lapse and others continue; then it wakes up, with leases that it takes to be valid. */
  async function wakeLate(victim: WorkerProcess): Promise<void> {
    const held = sql`
      select from pawl.shards where relay like ${`%-${victim.pid}-%`}::text and leased_until > pawl.now() limit 1`;
    while ((await store.db.rows(held)).length > 0);
    victim.goOn();
  }

  /** All has arrived, in order for the first time, and is written down: after the last lease at the latest. */
  async function holds(published: ReadonlyMap<string, number>): Promise<void> {
    await sink.deliveries.whenArrived([...published.values()].reduce((sum, n) => sum + n, 0));
    expect(sink.deliveries.contradictions(published, { mayRepeat: true }), repeat).toEqual([]);
    while ((await pawl.outbox.status()).pending > 0);
    expect(await pawl.inspect.verify(), repeat).toEqual([]);
  }

  test("at any moment, or stopped past their lease, lose nothing and send in order for the first time", async () => {
    await Promise.all([begin(), begin(), begin()]);
    const writing = writeAll(pawl, { messages, aggregates: 40, random, slowestMs: 10 });
    const every = Math.floor((messages * 0.9) / (kills + stops));
    const waking: Promise<void>[] = [];
    for (let fault = 0; fault < kills + stops; fault++) {
      await sink.deliveries.whenArrived(every * (fault + 1));
      const victim = random.pick([...relays]);
      if (fault % 4 === 3) {
        victim.stop();
        waking.push(wakeLate(victim));
      } else {
        relays.delete(victim);
        await victim.kill();
        await begin();
      }
    }
    await Promise.all(waking);
    const published = await writing;
    expect([...published.values()].reduce((sum, n) => sum + n, 0)).toBe(messages);
    await holds(published);
    const most = (kills + stops) * 2 * 20; // Both slots of the victim with a batch each.
    expect(sink.deliveries.repeated, `${repeat}: a fault costs what was under way at most`).toBeLessThanOrEqual(most);
  }, 240_000);

  test("at each point of a round: after the lease, the publishing, the confirm and the mark", async () => {
    const published = await writeAll(pawl, { messages: 400, aggregates: 40, random, slowestMs: 0 });
    const dying = await Promise.all(pointsMet("a relay").map((point) => begin({ PAWL_FAULT: `${point}:crash:2` })));
    await Promise.all(dying.map((relay) => relay.ended));
    await begin();
    await holds(published);
  }, 120_000);
});
