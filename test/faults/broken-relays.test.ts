import type { Broker, Pawl } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openOn } from "../../src/api/open/create.ts";
import type { Kernel } from "../../src/kernel/kernel.ts";
import { Delivery } from "../../src/outbox/delivery.ts";
import { relayRound } from "../../src/outbox/round.ts";
import { relaySettings } from "../../src/outbox/settings.ts";
import { promoteMessages } from "../../src/outbox/store/outbox.ts";
import { type Db, type Executor, type Statement, sql } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";
import { Deliveries } from "./relays/deliveries.ts";
import { countersTable, writeSome } from "./relays/writers.ts";

/**
 * Proves the checker of the outbox with relays that are broken on purpose. Each makes one of the mistakes that relays
 * make, runs a scene in which it matters, and must be found. The same scene with the complete relay must leave no
 * finding.
 */
interface BrokenRelay {
  readonly mistake: string;
  /** The relay that makes it, and the one that does not. */
  readonly broken: Breakage;
  readonly whole: Breakage;
  readonly scene: (t: Scene) => Promise<void>;
  readonly caught: string;
}

interface Breakage {
  readonly db?: (db: Db) => Db;
  readonly broker?: (broker: Broker) => Broker;
}

/** The faults of a message on its way, in turn; the rest succeeds. */
type Fate = "arrives" | "is lost on the way" | "is returned";

interface Scene {
  readonly pawl: Pawl;
  /** A straight way to the database. */
  readonly db: Db;
  fates(...fates: readonly Fate[]): void;
  /** Rounds of the relay under test, until there is nothing to do, or it does not seem to end. */
  relay(): Promise<void>;
  /** The same, after what failed has rested. */
  relayAgain(): Promise<void>;
  /** Rounds of another, whole relay. */
  otherRelay(): Promise<void>;
}

const brokenRelays: readonly BrokenRelay[] = [
  {
    mistake: "goes on from the last position that it has seen",
    broken: { db: fromTheLastPosition },
    whole: {},
    caught: "a:1 was lost",
    async scene(t) {
      let commit: () => void = () => {};
      const late = new Promise<void>((resolve) => {
        commit = resolve;
      });
      let isWritten: () => void = () => {};
      const written = new Promise<void>((resolve) => {
        isWritten = resolve;
      });
      const slow = t.pawl.transaction(async (tx) => {
        await tx.query("update counters set n = 1 where id = 'a'");
        await t.pawl.publish("thing.counted", { n: 1 }, { aggregate: { type: "thing", id: "a" }, tx });
        isWritten();
        await late;
      });
      await written;
      await writeSome(t.pawl, "b", 1);
      await t.relay();
      commit();
      await slow;
      await t.relay();
    },
  },
  {
    mistake: "writes down that a message was sent before that was confirmed",
    broken: {
      broker: (broker) => ({ ...broker, publish: async (message) => void broker.publish(message).catch(() => {}) }),
    },
    whole: {},
    caught: "a:1 was lost",
    async scene(t) {
      await writeSome(t.pawl, "a", 2);
      t.fates("is lost on the way");
      await t.relay();
      await t.relayAgain();
    },
  },
  {
    mistake: "takes a message that came back for delivered",
    broken: {
      broker: (broker) => ({
        ...broker,
        publish: (message) =>
          broker.publish(message).catch((error: Error) => {
            if (error.message !== "is returned") throw error;
          }),
      }),
    },
    whole: {},
    caught: "a:1 was lost",
    async scene(t) {
      await writeSome(t.pawl, "a", 2);
      t.fates("is returned");
      await t.relay();
      await t.relayAgain();
    },
  },
  {
    mistake: "leases and reads in one statement",
    broken: { db: (db) => behindGate(db, { readsAtOnce: true }) },
    whole: { db: (db) => behindGate(db, { readsAtOnce: false }) },
    caught: "came twice",
    async scene(t) {
      await writeSome(t.pawl, "a", 2);
      let held: Promise<void> | undefined;
      await t.db.transaction(async (tx) => {
        await tx.query(`select pg_advisory_xact_lock(${gate})`);
        held = t.relay();
        await untilWaiting(t.db);
        await t.otherRelay(); // All of it, between the snapshot of the other one's read and its lease.
      });
      await held;
    },
  },
  {
    mistake: "does not wait with the next message of an aggregate until the one before it is confirmed",
    broken: {
      db: (db) => changing(db, (_, rows) => rows.map((row, at) => ({ ...row, aggregate_type: `thing ${at}` }))),
    },
    whole: {},
    caught: "a:1 came after a later one",
    async scene(t) {
      await writeSome(t.pawl, "a", 2);
      t.fates("is returned");
      await t.relay();
      await t.relayAgain();
    },
  },
  {
    mistake: "forgets that a message holds up those behind it",
    broken: { db: (db) => changing(db, (_, rows) => rows.map((row) => ({ ...row, behind: false }))) },
    whole: {},
    caught: "a:1 came after a later one",
    async scene(t) {
      await writeSome(t.pawl, "a", 1);
      t.fates("is returned");
      await t.relay();
      await writeSome(t.pawl, "a", 1);
      await t.relay();
      await t.relayAgain();
    },
  },
];

onPostgres("a relay that", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    await store.db.script(countersTable);
  });
  afterAll(() => store.dispose());

  for (const { mistake, broken, whole, scene, caught } of brokenRelays) {
    describe(mistake, () => {
      test("is found out", async () => {
        expect((await play(store, broken, scene)).join("\n")).toContain(caught);
      });
      test("is told from one that does not", async () => {
        expect(await play(store, whole, scene)).toEqual([]);
      });
    });
  }
});

/** Plays a scene and returns the findings of the checker. */
async function play(store: TestStore, breakage: Breakage, scene: BrokenRelay["scene"]): Promise<string[]> {
  await store.db.script(
    "truncate pawl.messages, public.counters; insert into public.counters (id) values ('a'), ('b')",
  );
  const deliveries = new Deliveries();
  const fates: Fate[] = [];
  const broker: Broker = {
    name: "test",
    timeoutMs: 50,
    takes: () => true,
    async publish({ id, aggregate, body }) {
      const fate = fates.shift() ?? "arrives";
      if (fate !== "arrives") throw new Error(fate);
      deliveries.add({ id, aggregate: aggregate.id, n: (JSON.parse(body) as { n: number }).n });
    },
    awayMs: () => 0,
    close: async () => {},
  };
  const own = await openPostgres({ url: store.url! });
  const { pawl, kernel } = await openOn(breakage.db?.(own) ?? own, { lifecycles: [], logger: false });
  const other = await openPostgres({ url: store.url! });
  const { kernel: otherKernel } = await openOn(other, { lifecycles: [], logger: false });
  const relay = () => relayAll(kernel, breakage.broker?.(broker) ?? broker);
  try {
    await scene({
      pawl,
      db: store.db,
      fates: (...list) => void fates.push(...list),
      relay,
      relayAgain: async () => {
        await promoteMessages(kernel.db, 100);
        await relay();
      },
      otherRelay: () => relayAll(otherKernel, broker),
    });
    const { rows } = await store.db.transaction((tx) =>
      tx.query<{ id: string; n: number }>("select id, n from counters"),
    );
    return deliveries.contradictions(new Map(rows.map(({ id, n }) => [id, n])), { mayRepeat: false });
  } finally {
    await pawl.close();
    await other.close();
  }
}

async function relayAll(kernel: Kernel, broker: Broker): Promise<void> {
  const settings = relaySettings({ brokers: [broker], retry: { maxAttempts: 10, backoff: () => 0 } });
  const delivery = new Delivery(kernel, settings);
  for (let round = 0; round < 10; round++) {
    if ((await relayRound(kernel, settings, delivery, "test")) === undefined) return;
  }
}

type Row = Record<string, unknown>;

/** A database on which what relays read is changed. */
function changing(db: Db, change: (statement: Statement, rows: Row[]) => Row[]): Db {
  return around(db, async (statement, run) => {
    const rows = await run(statement);
    return isRead(statement) ? change(statement, rows) : rows;
  });
}

function around(
  db: Db,
  rows: (statement: Statement, run: (changed: Statement) => Promise<Row[]>) => Promise<Row[]>,
): Db {
  return {
    kind: db.kind,
    rows: <R>(statement: Statement) => rows(statement, (changed) => db.rows<Row>(changed)) as Promise<R[]>,
    transaction: (work) => db.transaction(work),
    script: (text) => db.script(text),
    close: () => db.close(),
  };
}

const isRead = ({ text }: Statement) => text.includes("with oldest as materialized");
const isLease = ({ text }: Statement) => text.includes("update pawl.shards") && text.includes("as head");

/** Reads only what is after the last position that was read. */
function fromTheLastPosition(db: Db): Db {
  let cursor = 0;
  return around(db, async (statement, run) => {
    if (!isRead(statement)) return run(statement);
    const text = replaced(
      statement.text,
      "and each.next_attempt_at is null",
      `and each.next_attempt_at is null and each.position > ${cursor}`,
    );
    const rows = await run({ ...statement, text, name: "" });
    cursor = Math.max(
      cursor,
      await lastPosition(
        db,
        rows.map((row) => String(row.id)),
      ),
    );
    return rows;
  });
}

async function lastPosition(db: Executor, ids: readonly string[]): Promise<number> {
  const [last] = await db.rows<{ position: number | null }>(sql`
    select max(position)::float8 as position from pawl.messages where id::text = any(${`{${ids.join(",")}}`}::text[])`);
  return last?.position ?? 0;
}

const gate = 4_242;

/**
 * The lease waits at a gate, once, after the snapshot of its statement was taken. Then the messages are read in the
 * same statement, or in the next one as they should be.
 */
function behindGate(db: Db, { readsAtOnce }: { readsAtOnce: boolean }): Db {
  let isOpen = false;
  let read: Row[] | undefined;
  return around(db, async (statement, run) => {
    if (isLease(statement) && !isOpen) {
      isOpen = true;
      const gated = replaced(
        replaced(
          statement.text,
          "with clock as materialized (",
          `with gate as materialized (select pg_advisory_xact_lock(${gate})), clock as materialized (`,
        ),
        "from clock, pawl.shards as shard",
        "from gate, clock, pawl.shards as shard",
      );
      if (!readsAtOnce) return run({ ...statement, text: gated, name: "" });
      const concurrency = `${replaced(gated, "update pawl.shards as shard", ", leased as (update pawl.shards as shard")})
        select leased.shard, leased.token, message.id::text as id, message.aggregate_id, message.aggregate_type,
          message.message_type, message.payload::text as payload, message.version, message.retry_count, 0 as created_ms,
          false as behind
        from leased join pawl.messages as message on message.shard = leased.shard and message.status = 'pending'
        order by message.position`;
      read = await run({ ...statement, text: concurrency, name: "" });
      return read;
    }
    if (!isRead(statement) || read === undefined) return run(statement);
    const rows = read;
    read = undefined;
    return rows;
  });
}

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`The statement no longer says "${from}".`);
  return text.replace(from, to);
}

/** Until a statement waits at the gate. */
async function untilWaiting(db: Executor): Promise<void> {
  for (;;) {
    const [waiting] = await db.rows<{ count: number }>(sql`
      select count(*)::int as count from pg_locks where locktype = 'advisory' and objid = 4242 and not granted`);
    if (waiting!.count > 0) return;
  }
}
