import { createPawl, job, lifecycle, type Pawl, queue } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { newPostgresStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";

const part = job("part", { payload: z.object({ n: z.number() }), run: () => {} });
const opinions = queue("opinions", { label: z.object({ good: z.boolean() }), overlap: 1 });

/** Its number decides which rows come with its moves: messages, children, timers, effects, failures, in many combinations. */
const order = lifecycle("order", {
  data: z.object({ n: z.number(), checked: z.boolean().default(false) }),
  initial: "checking",
  deadline: { within: "1h", late: "accept" },
  on: { noted: {}, redo: "checking" },
  states: {
    checking: {
      run: (step) => {
        const { n } = step.data;
        if (n % 7 === 0 && step.attempt === 1) throw new Error("not yet");
        if (n % 11 === 0) throw new Error("never");
        if (n % 2 === 0) step.publish("order.checked", { n });
        if (n % 3 === 0) step.set({ checked: true });
        if (n % 5 === 0) step.start(part, { data: { n } });
        return step.go(n % 13 === 0 ? "skipped" : "checked");
      },
      retry: { maxAttempts: 2, backoff: () => 0 },
      on: { checked: "waiting", skipped: { to: "done", after: () => {} } },
    },
    waiting: {
      timeout: { after: "30m", send: "expired" },
      on: { paid: { to: "joining", after: () => {} }, expired: "done" },
    },
    joining: { join: {}, on: { joined: "done" } },
    done: { final: "success" },
  },
});

/** The numbers from `from` on, in lists of one to five: those of a list are used at the same time. */
function listsFrom(from: number, many: number): number[][] {
  const lists: number[][] = [];
  for (let n = from; n < from + many; ) {
    const length = 1 + (n % 5);
    lists.push(Array.from({ length }, (_, index) => n + index));
    n += length;
  }
  return lists;
}

async function mixedLoad(pawl: Pawl, from: number): Promise<void> {
  const key = (n: number) => `order-${n}`;
  for (const numbers of listsFrom(from, 80)) {
    await Promise.all(
      numbers.map((n) =>
        n % 4 === 0
          ? pawl.enqueue(part, { n }, n % 8 === 0 ? { after: "1m" } : {})
          : pawl.start(order, { key: key(n), data: { n }, ...(n % 3 === 0 && { actor: "ada" }) }),
      ),
    );
    await Promise.all(
      numbers.flatMap((n) =>
        n % 4 === 0
          ? []
          : [
              pawl.trySend(order, key(n), "noted", n % 3 === 0 ? { after: "10m" } : {}),
              pawl.tryReceive(order, key(n), "paid", { dedupeKey: `paid-${n}` }),
              pawl.trySend(order, key(n), n % 6 === 1 ? "redo" : "noted", { idempotencyKey: `send-${n}` }),
            ],
      ),
    );
    const samples = await pawl.people.addMany(
      "opinions",
      numbers.map((n) => ({ data: { n } })),
    );
    for (const labeler of ["ada", "bob"].slice(0, samples.length)) {
      const next = await pawl.people.next("opinions", labeler);
      if (next.assignment === null) continue;
      await pawl.people.start(next.assignment.id, labeler);
      await pawl.people.submit(next.assignment.id, labeler, { good: true });
    }
  }
}

interface Prepared {
  readonly all: number;
  readonly moves: number;
  readonly starts: number;
}

/** How many statements the only connection has prepared, and how many of them write moves and starts. */
async function preparedOf(pawl: Pawl): Promise<Prepared> {
  const { rows } = await pawl.transaction((tx) =>
    tx.query<Prepared>(`
      select count(*)::int as all,
        count(*) filter (where statement ~ 'update pawl.instances as instance')::int as moves,
        count(*) filter (where statement ~ 'insert into pawl.instances')::int as starts
      from pg_prepared_statements`),
  );
  return rows[0]!;
}

onPostgres("prepared statements", () => {
  test("a connection has few of them after a mixed load", { timeout: 300_000 }, async () => {
    const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    const pawl = await createPawl({
      database: store.url!,
      connections: 1,
      lifecycles: [order, part],
      queues: [opinions],
      logger: false,
    });
    try {
      await pawl.people.upsertLabeler({ id: "ada" });
      await pawl.people.upsertLabeler({ id: "bob" });
      const worker = pawl.work({ concurrency: 16 });
      await mixedLoad(pawl, 0);
      await mixedLoad(pawl, 1_000);
      const { all, moves, starts } = await preparedOf(pawl);
      expect(moves).toBeLessThanOrEqual(6);
      expect(starts).toBeLessThanOrEqual(5);
      expect(all).toBeLessThan(100);
      await worker.stop();
    } finally {
      await pawl.close();
      await store.dispose();
    }
  });

  test("a statement whose columns a migration changed is prepared anew, and all others stay prepared", async () => {
    const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    const db = await openPostgres({ url: store.url!, connections: 1 });
    try {
      await db.script("create table pawl.room (a int)");
      const read = sql`select * from pawl.room`;
      const prepared = () =>
        db.rows<{ name: string }>(sql`select name from pg_prepared_statements where statement = ${read.text}`);
      expect(await db.rows(read)).toEqual([]);
      expect(await prepared()).toHaveLength(1);
      await db.script("alter table pawl.room add column b int; insert into pawl.room values (1, 2)");
      expect(await db.rows(read)).toEqual([{ a: 1, b: 2 }]);
      expect(await db.rows(read)).toEqual([{ a: 1, b: 2 }]);
      expect(await prepared()).toHaveLength(1);
    } finally {
      await db.close();
      await store.dispose();
    }
  });
});
