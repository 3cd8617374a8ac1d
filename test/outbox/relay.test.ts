import {
  type Broker,
  BrokerAway,
  createPawl,
  lifecycle,
  PermanentError,
  type RelayOptions,
  TransientError,
} from "pawl";
import { memoryBroker } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../src/store/port/db.ts";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { onPostgres } from "../setup/suites.ts";
import { eachStore, type Store } from "../support/each-store.ts";

const essay = lifecycle("essay", {
  data: z.object({ n: z.number() }),
  initial: "submitted",
  states: {
    submitted: {
      run: (step) => {
        step.publish("essay.requested", { n: step.data.n });
        step.publish("essay.noted", { n: step.data.n });
      },
      on: { requested: "done" },
    },
    done: { final: "success" },
  },
});

const retry = { maxAttempts: 3, backoff: (failures: number) => failures * 1_000 };

/** A test's Pawl with a broker in memory, which refuses what `refuses` throws for. */
async function open(
  store: Store,
  options: { refuses?: (type: string, id: string) => void; outbox?: Partial<RelayOptions> } = {},
): Promise<{ t: TestPawl; sent: () => string[]; [Symbol.asyncDispose](): Promise<void> }> {
  const broker = memoryBroker();
  broker.on("#", ({ type, aggregate }) => options.refuses?.(type, aggregate.id));
  const t = await store.open({ lifecycles: [essay], outbox: { brokers: [broker], retry, ...options.outbox } });
  return {
    t,
    sent: () => broker.messages.map(({ type, aggregate }) => `${aggregate.id} ${type}`),
    [Symbol.asyncDispose]: () => t.close(),
  };
}

async function publish(t: TestPawl, ...list: readonly string[]): Promise<void> {
  for (const one of list) {
    const [id = "", type = ""] = one.split(" ");
    await t.pawl.publish(type, { n: 1 }, { aggregate: { type: "thing", id } });
  }
}

async function rowsOf(t: TestPawl): Promise<Record<string, unknown>[]> {
  return t.db.rows(sql`
    select message_type as type, status, retry_count, error_message as error, processed_at is not null as processed
    from pawl.messages order by position`);
}

eachStore((store) => {
  test.each([
    [
      "throws",
      () => {
        throw new Error("no such pause");
      },
    ],
    ["returns NaN", () => Number.NaN],
    ["returns an endless pause", () => Number.POSITIVE_INFINITY],
    ["returns a promise", () => Promise.reject(new Error("later")) as never],
  ])("a backoff that %s costs no message that was confirmed, and its attempts still end", async (_, backoff) => {
    const refuses = (type: string) => {
      if (type === "bad") throw new Error("refused");
    };
    await using it = await open(store, { refuses, outbox: { retry: { maxAttempts: 2, backoff } } });
    await publish(it.t, "a good", "b bad", "c good");
    const outcomes = await it.t.relay();
    expect(outcomes.map(({ what }) => what).sort()).toEqual(["failed", "published", "published"]);
    expect(it.sent().sort()).toEqual(["a good", "c good"]);
    expect(await it.t.relay()).toEqual([]);
    await it.t.advance("400d");
    expect(await it.t.relay()).toMatchObject([{ what: "dead" }]);
  });

  test("callbacks and brokers that fail stop no relay", async () => {
    const broker = memoryBroker();
    const strange: Broker = {
      name: "strange",
      timeoutMs: 1_000,
      takes: (type) => type === "strange",
      awayMs: () => {
        throw new Error("who knows");
      },
      publish: () => Promise.reject(new BrokerAway("away", { retryAfterMs: Number.NaN })),
      close: async () => {},
    };
    const onFailure = () => Promise.reject(new Error("a callback rejects")) as never;
    await using t = await store.open({ lifecycles: [essay], outbox: { brokers: [strange, broker] } });
    const relay = t.pawl.relay({ onFailure, pollInterval: 10 });
    await publish(t, "a strange", "b good");
    await expect.poll(() => broker.messages.length).toBe(1);
    await relay.stop();
    expect(await rowsOf(t)).toMatchObject([{ type: "strange", status: "pending" }, { type: "good" }]);
  });

  describe("a relay", () => {
    test("R60 the outbox has the columns and the indexes that outside readers know", async () => {
      await using opened = await open(store);
      const columns = await opened.t.db.rows<{ column: string }>(sql`
        select column_name || ' ' || data_type || coalesce(' default ' || column_default, '') as column
        from information_schema.columns where table_schema = 'pawl' and table_name = 'messages'`);
      expect(columns.map((row) => row.column)).toEqual(
        expect.arrayContaining([
          "id uuid default gen_random_uuid()",
          "aggregate_id text",
          "aggregate_type text",
          "message_type text",
          "payload jsonb",
          "status text default 'pending'::text",
          "created_at timestamp with time zone default pawl.now()",
          "processed_at timestamp with time zone",
          "retry_count integer default 0",
          "error_message text",
        ]),
      );
      const indexes = await opened.t.db.rows<{ on: string }>(sql`
        select substring(indexdef from '\\(.*') as on from pg_indexes where schemaname = 'pawl' and tablename = 'messages'`);
      expect(indexes.map((row) => row.on)).toEqual(
        expect.arrayContaining(["(status, created_at)", "(aggregate_id, aggregate_type)"]),
      );
    });

    test("R61 sends what is pending, the oldest first and a hundred at a time", async () => {
      const batches: number[] = [];
      await using opened = await open(store, { outbox: { concurrency: 1 } });
      const { t } = opened;
      // Not in the order of their names, nor of their shards: in that of their writing.
      const ids = Array.from({ length: 230 }, (_, n) => String((n * 101) % 230).padStart(3, "0"));
      await t.pawl.transaction(async (tx) => {
        for (const id of ids) await t.pawl.publish("a", { id }, { aggregate: { type: "thing", id }, tx });
      });
      await t.pawl.publish("a", {}, { aggregate: { type: "thing", id: "sent before" } });
      await t.db.script(
        "update pawl.messages set status = 'published', processed_at = pawl.now() where aggregate_id = 'sent before'",
      );
      const note = async () => {
        const [row] = await t.db.rows<{ sent: number }>(
          sql`select count(*)::int as sent from pawl.messages where status = 'published' and processed_at is not null`,
        );
        batches.push(row!.sent - 1);
      };
      for (const round of [1, 2, 3]) t.faults.plant("relay.afterMark", note, round);
      expect(await t.relay()).toHaveLength(230);
      // Each round leases all shards that have something, and sends the hundred oldest messages of them.
      expect(opened.sent()).toEqual(ids.map((id) => `${id} a`));
      expect(batches).toEqual([100, 200, 230]);
      expect(await t.pawl.outbox.status()).toEqual({
        brokers: ["memory"],
        pending: 0,
        dead: 0,
        unrouted: 0,
        oldestPendingMs: null,
        types: [],
      });
    });

    test("R62 a message is marked as published, with the time, once it was sent: not before", async () => {
      await using opened = await open(store);
      const { t } = opened;
      await publish(t, "1 a");
      const seen: unknown[] = [];
      t.faults.plant("relay.afterConfirm", async () => void seen.push(opened.sent(), await rowsOf(t)));
      await t.relay();
      const row = { type: "a", error: null, retry_count: 0 };
      expect(seen).toEqual([["1 a"], [{ ...row, status: "pending", processed: false }]]);
      expect(await rowsOf(t)).toEqual([{ ...row, status: "published", processed: true }]);
    });

    test("R63 a failure counts, is told in the row, leaves it pending, and is tried again after a pause", async () => {
      let fails = true;
      await using opened = await open(store, {
        refuses: () => {
          if (fails) throw new Error("The queue is full.");
        },
      });
      const { t } = opened;
      await publish(t, "1 a");
      await t.relay();
      const pending = { type: "a", status: "pending", processed: false, error: "The queue is full." };
      expect(await rowsOf(t)).toEqual([{ ...pending, retry_count: 1 }]);
      expect(await t.relay()).toEqual([]);
      await t.advance("1s");
      await t.relay();
      expect(await rowsOf(t)).toEqual([{ ...pending, retry_count: 2 }]);
      fails = false;
      await t.advance("2s");
      await t.relay();
      expect(await rowsOf(t)).toEqual([{ ...pending, retry_count: 2, status: "published", processed: true }]);
      expect(opened.sent()).toEqual(["1 a"]);
    });

    test("the messages of an instance go out in the order of its moves, with their ids", async () => {
      await using opened = await open(store);
      const { t } = opened;
      const { id } = await t.pawl.start(essay, { data: { n: 7 } });
      await t.work();
      await t.pawl.send(essay, { id }, "restart");
      await t.work();
      const sent = await t.relay();
      expect(opened.sent()).toEqual([
        `${id} essay.requested`,
        `${id} essay.noted`,
        `${id} essay.requested`,
        `${id} essay.noted`,
      ]);
      const rows = await t.db.rows<{ id: string }>(sql`select id::text as id from pawl.messages order by position`);
      expect(sent.map((one) => one.id)).toEqual(rows.map((row) => row.id));
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });

    test("one that fails holds up those behind it, and nobody else", async () => {
      let fails = true;
      await using opened = await open(store, {
        refuses: (type, id) => {
          if (fails && id === "1" && type === "b") throw new Error("no");
        },
      });
      const { t } = opened;
      await publish(t, "1 a", "1 b", "1 c", "2 a", "2 b");
      await t.relay();
      expect(opened.sent().filter((one) => one.startsWith("1"))).toEqual(["1 a"]);
      expect(opened.sent().filter((one) => one.startsWith("2"))).toEqual(["2 a", "2 b"]);
      await publish(t, "1 d"); // While it is held up.
      expect(await t.relay()).toMatchObject([{ what: "behind" }]);
      expect(await t.relay()).toEqual([]); // What waits is not looked at again and again.
      fails = false;
      await t.advance("1s");
      await t.relay();
      expect(opened.sent().filter((one) => one.startsWith("1"))).toEqual(["1 a", "1 b", "1 c", "1 d"]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });

    test("one that is given up is a dead letter, and those behind it wait until somebody decides", async () => {
      let fails = true;
      await using opened = await open(store, {
        refuses: (type) => {
          if (fails && type === "essay.requested") throw new Error("no such queue");
        },
      });
      const { t } = opened;
      const [one, other] = await t.pawl.startMany(essay, [{ data: { n: 1 } }, { data: { n: 2 } }]);
      await t.work();
      for (const pause of ["0s", "1s", "2s"] as const) {
        await t.advance(pause);
        await t.relay();
      }
      const dead = await t.pawl.outbox.messages({ status: "dead" });
      expect(dead).toHaveLength(2);
      expect(dead[0]).toMatchObject({ type: "essay.requested", retryCount: 3, error: "no such queue" });
      expect((await t.pawl.outbox.status()).types).toMatchObject([
        { type: "essay.noted", pending: 2, held: 2, dead: 0 },
        { type: "essay.requested", pending: 0, held: 0, dead: 2 },
      ]);
      expect(await t.pawl.deadLetters.list({ lifecycle: essay })).toMatchObject([
        { kind: "message", origin: "essay.requested", reason: "attempts_used_up", attempts: 3 },
        { kind: "message", error: { message: "no such queue" }, payload: { n: expect.any(Number) } },
      ]);
      await t.advance("1h");
      expect(await t.relay()).toEqual([]);
      expect(opened.sent()).toEqual([]);
      fails = false;
      const mine = dead.find((message) => message.aggregate.id === one!.id)!;
      expect(await t.pawl.outbox.requeue({ id: mine.id })).toBe(1);
      await t.relay();
      expect(opened.sent()).toEqual([`${one!.id} essay.requested`, `${one!.id} essay.noted`]);
      expect(await t.pawl.outbox.discard({ type: "essay.requested" })).toBe(1);
      await t.relay();
      expect(opened.sent().slice(2)).toEqual([`${other!.id} essay.noted`]);
      expect(await t.pawl.deadLetters.list({ lifecycle: essay })).toEqual([]);
      expect(await t.pawl.outbox.discard({ all: true })).toBe(0);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });

    test("a dead message is requeued and discarded by its dead letter, in the name of who decides", async () => {
      let fails = true;
      await using opened = await open(store, {
        refuses: (type) => {
          if (fails && type === "essay.requested") throw new Error("no such queue");
        },
      });
      const { t } = opened;
      await t.pawl.startMany(essay, [{ data: { n: 1 } }, { data: { n: 2 } }]);
      await t.work();
      for (const pause of ["0s", "1s", "2s"] as const) {
        await t.advance(pause);
        await t.relay();
      }
      const [one, other] = await t.pawl.deadLetters.list();
      await expect(t.pawl.deadLetters.requeue(one!.id, { restart: true })).rejects.toMatchObject({
        code: "option_invalid",
      });
      fails = false;
      expect(await t.pawl.deadLetters.requeue(one!.id, { actor: "ada", reason: "bound" })).toMatchObject({
        status: "requeued",
        decidedBy: "ada",
        decision: "bound",
      });
      expect(await t.pawl.deadLetters.discard(other!.id, { actor: "ada" })).toMatchObject({ status: "discarded" });
      await t.relay();
      expect(opened.sent().sort()).toEqual(
        [`${one!.instance} essay.requested`, `${one!.instance} essay.noted`, `${other!.instance} essay.noted`].sort(),
      );
      await expect(t.pawl.deadLetters.requeue(one!.id)).rejects.toMatchObject({ code: "dead_letter_decided" });
    });

    test("what can never be sent is given up at once, and what says when to come again is heard", async () => {
      await using opened = await open(store, {
        refuses: (type) => {
          if (type === "a") throw new PermanentError("It is too large.");
          throw new TransientError("Come again.", { retryAfterMs: 60_000 });
        },
      });
      const { t } = opened;
      await publish(t, "1 a", "2 b");
      await t.relay();
      expect(await rowsOf(t)).toMatchObject([
        { type: "a", status: "dead", retry_count: 1, error: "It is too large." },
        { type: "b", status: "pending", retry_count: 1 },
      ]);
      await t.advance("59s");
      expect(await t.relay()).toEqual([]);
      await t.advance("1s");
      expect(await t.relay()).toHaveLength(1);
    });

    test("a broker that is away costs no attempt, and does not hold up what goes elsewhere", async () => {
      let awayMs = 5_000;
      const down: Broker = {
        name: "down",
        timeoutMs: 1_000,
        takes: (type) => type === "a",
        publish: async () => {
          if (awayMs > 0) throw new BrokerAway("It is gone.", { retryAfterMs: awayMs });
        },
        awayMs: () => awayMs,
        close: async () => {},
      };
      const broker = memoryBroker();
      await using opened = await open(store, { outbox: { brokers: [down, broker] } });
      const { t } = opened;
      await publish(t, "1 a", "1 b", "2 b");
      await t.relay();
      expect(broker.messages.map((message) => message.aggregate.id)).toEqual(["2"]);
      expect((await rowsOf(t))[0]).toMatchObject({
        status: "pending",
        retry_count: 0,
        error: "Broker `down` is not available.",
      });
      awayMs = 0;
      await t.advance("5s");
      await t.relay();
      expect((await rowsOf(t)).map((row) => row.status)).toEqual(["published", "published", "published"]);
    });

    test("a message that no broker takes spends no attempt, holds up nothing, and counts as no lag", async () => {
      const broker = memoryBroker({ types: ["known.*"] });
      await using opened = await open(store, { outbox: { brokers: [broker] } });
      const { t } = opened;
      await publish(t, "1 unknown", "1 known.first", "1 unknown", "1 known.second");
      await t.relay();
      expect(broker.messages.map(({ type }) => type)).toEqual(["known.first", "known.second"]);
      const stray = { status: "pending", retry_count: 0, error: "No broker accepts messages of type `unknown`." };
      expect((await rowsOf(t)).filter(({ type }) => type === "unknown")).toMatchObject([stray, stray]);
      expect(await t.pawl.outbox.status()).toMatchObject({ pending: 0, dead: 0, unrouted: 2, oldestPendingMs: null });
      for (let day = 0; day < 30; day++) {
        await t.advance("1d");
        await t.relay();
      }
      expect(await t.pawl.outbox.status()).toMatchObject({ dead: 0, unrouted: 2 });
      expect((await t.pawl.inspect.overview()).needs).toEqual([]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
      expect(await t.pawl.deadLetters.list()).toEqual([]);
    });

    test("where no relay runs, what waits is lag, and a person is told", async () => {
      await using t = await store.open({ lifecycles: [] });
      await t.pawl.publish("a", {}, { aggregate: { type: "thing", id: "1" } });
      await t.advance("1d");
      expect(await t.pawl.outbox.status()).toMatchObject({ pending: 1, oldestPendingMs: 86_400_000 });
      expect((await t.pawl.inspect.overview()).needs).toMatchObject([{ what: "outbox" }]);
    });

    test("a statement of one's own needs neither an id nor a time", async () => {
      await using opened = await open(store);
      const { t } = opened;
      await t.db.script(
        "insert into pawl.messages (aggregate_id, aggregate_type, message_type, payload) values ('1', 'thing', 'a', '{}')",
      );
      await t.relay();
      expect(opened.sent()).toEqual(["1 a"]);
      expect(await t.pawl.outbox.messages({ status: "published" })).toMatchObject([{ createdAt: t.now() }]);
    });

    test("a broker that never answers is not waited for, and a dead relay's shards come free", async () => {
      const silent: Broker = {
        name: "silent",
        timeoutMs: 20,
        takes: () => true,
        publish: () => new Promise(() => {}),
        awayMs: () => 0,
        close: async () => {},
      };
      await using opened = await open(store, { outbox: { brokers: [silent] } });
      const { t } = opened;
      await publish(t, "1 a");
      await t.relay();
      expect(await rowsOf(t)).toMatchObject([{ retry_count: 1, error: expect.stringContaining("did not confirm") }]);
      await t.advance("1s");
      t.faults.plant("relay.afterLock", "throw");
      await expect(t.relay()).rejects.toThrow("planted");
      expect(await t.relay()).toEqual([]); // Still leased.
      await t.advance("15s");
      expect(await t.relay()).toMatchObject([{ what: "failed" }]);
    });

    test("what was sent is kept for a while and then removed; what was not, stays", async () => {
      await using opened = await open(store, {
        refuses: (type) => {
          if (type === "b") throw new PermanentError("no");
        },
        outbox: { retention: "1d" },
      });
      const { t } = opened;
      const { id } = await t.pawl.start(essay, { data: { n: 1 } });
      await t.work();
      await publish(t, "1 a", "2 b");
      await t.relay();
      await t.advance("23h");
      const types = async () => (await rowsOf(t)).map((row) => row.type);
      await t.relay();
      expect(await types()).toEqual(["essay.requested", "essay.noted", "a", "b"]);
      await t.advance("2h");
      await t.relay();
      expect(await types()).toEqual(["b"]);
      // Its journal still counts what it published, and it is known that such old ones may be gone.
      expect(await t.pawl.inspect.verify()).toEqual([]);
      await t.db.script(`delete from pawl.pruned`);
      expect(await t.pawl.inspect.verify()).toMatchObject([{ invariant: "I4", instance: id }]);
    });

    test("verify misses a message that is gone, and sees one that waits behind nothing or was overtaken", async () => {
      await using opened = await open(store);
      const { t } = opened;
      await t.pawl.startMany(essay, [{ data: { n: 1 } }, { data: { n: 2 } }, { data: { n: 3 } }]);
      await t.work();
      await publish(t, "1 a");
      expect(await t.pawl.inspect.verify()).toEqual([]);
      await t.db.script(`
        delete from pawl.messages where message_type = 'essay.noted' and payload ->> 'n' = '1';
        update pawl.messages set place = 5 where message_type = 'essay.noted' and payload ->> 'n' = '2';
        update pawl.messages set status = 'published', processed_at = created_at
        where message_type = 'essay.noted' and payload ->> 'n' = '3';
        update pawl.messages set next_attempt_at = 'infinity' where message_type = 'a';`);
      const found = (await t.pawl.inspect.verify()).map(({ invariant, message }) => `${invariant} ${message}`).sort();
      expect(found).toEqual([
        expect.stringMatching(/^I4 Its move 2 published 2 messages, and 1 are in the outbox/),
        expect.stringMatching(/^I4 Message .* number 6 of its move 2, and the journal counts 2/),
        expect.stringMatching(/^I4 Message .* is pending, and message .* was sent/),
        expect.stringMatching(/^I4 Message .* about thing 1 waits behind another one, and there is none/),
      ]);
    });
  });
});

onPostgres("a running relay", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
  });
  afterAll(() => store.dispose());

  async function running(poll: "1s" | "10m") {
    const broker = memoryBroker();
    const pawl = await createPawl({
      database: store.url,
      lifecycles: [essay],
      logger: false,
      outbox: { brokers: [broker], pollInterval: poll },
    });
    const arrived = (type: string) => new Promise((resolve) => broker.on(type, resolve));
    return { pawl, arrived };
  }

  test("is woken by what is published here, sends it beside the worker's steps, and stops with it", async () => {
    const { pawl, arrived } = await running("10m");
    try {
      const worker = pawl.work();
      const sent = arrived("essay.noted");
      await pawl.start(essay, { data: { n: 1 } });
      await sent;
      const published = arrived("own");
      await pawl.transaction((tx) => pawl.publish("own", {}, { aggregate: { type: "thing", id: "1" }, tx }));
      await published;
      await worker.stop();
      await pawl.publish("late", {}, { aggregate: { type: "thing", id: "1" } });
      expect(await pawl.outbox.status()).toMatchObject({ pending: 1 });
    } finally {
      await pawl.close();
    }
  });

  test("R61 looks again and again, and so finds what nobody hinted at", async () => {
    const { pawl, arrived } = await running("1s");
    try {
      pawl.relay();
      for (const type of ["first", "second"]) {
        const sent = arrived(type);
        await store.db.script(`
          insert into pawl.messages (id, aggregate_id, aggregate_type, message_type, payload, created_at)
          values (gen_random_uuid(), '1', 'thing', '${type}', '{}', pawl.now())`);
        await sent;
      }
    } finally {
      await pawl.close();
    }
  });
});
