import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { Kysely, PostgresDialect } from "kysely";
import {
  type CallOptions,
  crowd,
  fromDrizzle,
  fromKysely,
  fromPrisma,
  job,
  lifecycle,
  type Pawl,
  queue,
  type TransactionLike,
} from "pawl";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { openPrisma, prismaFolder } from "../../support/prisma-client.ts";

type Transaction = NonNullable<CallOptions["tx"]>;

/** What the hooks of `order` call, and where. */
let inHook: ((tx: Transaction) => unknown) | undefined;

const order = lifecycle("order", {
  data: z.object({ amount: z.number(), notes: z.number().default(0) }),
  initial: "open",
  deadline: { within: "10d" },
  on: { noted: { set: ({ data }) => ({ notes: data.notes + 1 }) } },
  states: {
    open: {
      forever: true,
      on: {
        packed: "later",
        paid: {
          to: "done",
          before: async ({ tx, id }) => {
            await tx.query("insert into ledger (id) values ($1)", [id]);
            await inHook?.(tx);
          },
        },
        declined: {
          to: "done",
          before: async ({ tx, id }) => {
            await tx.query("insert into ledger (id) values ($1)", [id]);
            throw new Error("the bank says no");
          },
        },
      },
    },
    later: { forever: true, on: { shipped: "done" } },
    done: { final: "success" },
  },
});

const mail = job("mail", { payload: z.object({ to: z.string() }), run: async () => {} });
const essays = queue("essays", { label: z.object({ score: z.number() }) });
const receipts = crowd("receipts", {
  label: z.object({ total: z.number() }),
  marketplace: "people",
  reward: "0.25",
});

interface Verb {
  readonly name: string;
  /** Makes what the call is about, before the transaction. */
  prepare?(pawl: Pawl, key: string): Promise<unknown>;
  call(pawl: Pawl, key: string, tx: Transaction): Promise<unknown>;
  /** The code of the refusal, where it is refused. */
  readonly refused?: string;
  /** How many changes the call has made, after the transaction. */
  changes(pawl: Pawl, key: string, query: Query): Promise<number>;
  readonly expected: number;
}

type Query = (text: string, values: unknown[]) => Promise<unknown[]>;

const begin = (pawl: Pawl, key: string) => pawl.start(order, { key, data: { amount: 1 } });
const versions = async (pawl: Pawl, key: string) => (await pawl.get(order, key))?.version ?? 0;
const letterOf = new Map<string, string>();
/** Callbacks that wait, by the key of their instance. */
const waiting = new Map<string, string>();

async function fail(pawl: Pawl, key: string): Promise<void> {
  await begin(pawl, key);
  const { id } = await pawl.send(order, key, "fail");
  const letters = await pawl.deadLetters.list({ lifecycle: order });
  letterOf.set(key, letters.find((letter) => letter.instance === id)!.id);
}

const verbs: readonly Verb[] = [
  {
    name: "start",
    call: (pawl, key, tx) => pawl.start(order, { key, data: { amount: 1 }, tx }),
    changes: versions,
    expected: 1,
  },
  {
    name: "start with bad data",
    call: (pawl, key, tx) => pawl.start(order, { key, data: { amount: "no" as never }, tx }),
    refused: "data_invalid",
    changes: versions,
    expected: 0,
  },
  {
    name: "startMany",
    call: (pawl, key, tx) =>
      pawl.startMany(
        order,
        ["", "2"].map((end) => ({ key: `${key}${end}`, data: { amount: 1 } })),
        { tx },
      ),
    changes: async (pawl, key) => (await versions(pawl, key)) + (await versions(pawl, `${key}2`)),
    expected: 2,
  },
  {
    name: "send",
    prepare: begin,
    call: (pawl, key, tx) => pawl.send(order, key, "noted", { tx }),
    changes: versions,
    expected: 2,
  },
  {
    name: "send that is refused",
    prepare: begin,
    call: (pawl, key, tx) => pawl.send(order, key, "shipped", { tx }),
    refused: "transition_refused",
    changes: versions,
    expected: 1,
  },
  {
    name: "trySend that is refused",
    prepare: begin,
    call: async (pawl, key, tx) => {
      expect(await pawl.trySend(order, key, "shipped", { tx })).toMatchObject({ ok: false });
    },
    changes: versions,
    expected: 1,
  },
  {
    name: "sendMany with a refusal and a hook that throws",
    prepare: begin,
    call: async (pawl, key, tx) => {
      const sent = await pawl.sendMany(
        order,
        [
          { to: key, event: "noted" },
          { to: "nobody", event: "noted" },
          { to: key, event: "declined" },
        ],
        { tx },
      );
      expect(sent.map((one) => one.ok)).toContain(false);
    },
    changes: async (pawl, key, query) => {
      const { id } = (await pawl.get(order, key))!;
      return (await query("select 1 from ledger where id = $1", [id])).length;
    },
    expected: 0,
  },
  {
    name: "send with a hook",
    prepare: begin,
    call: (pawl, key, tx) => pawl.send(order, key, "paid", { tx }),
    changes: async (pawl, key, query) => {
      const { id, version } = (await pawl.get(order, key))!;
      return version + (await query("select 1 from ledger where id = $1", [id])).length;
    },
    expected: 3,
  },
  {
    name: "send with a hook that throws",
    prepare: begin,
    call: (pawl, key, tx) => pawl.send(order, key, "declined", { tx }),
    refused: "hook_failed",
    changes: async (pawl, key, query) => {
      const { id, version } = (await pawl.get(order, key))!;
      return version + (await query("select 1 from ledger where id = $1", [id])).length;
    },
    expected: 1,
  },
  {
    name: "enqueue",
    call: (pawl, key, tx) => pawl.enqueue(mail, { to: "ada" }, { key, tx }),
    changes: async (pawl, key) => ((await pawl.jobs.get(mail, key)) === undefined ? 0 : 1),
    expected: 1,
  },
  {
    name: "enqueueMany",
    call: (pawl, key, tx) =>
      pawl.enqueueMany(
        mail,
        ["", "2"].map((end) => ({ payload: { to: "ada" }, key: `${key}${end}` })),
        { tx },
      ),
    changes: async (pawl, key) => {
      const found = await Promise.all([pawl.jobs.get(mail, key), pawl.jobs.get(mail, `${key}2`)]);
      return found.filter((one) => one !== undefined).length;
    },
    expected: 2,
  },
  {
    name: "publish",
    call: (pawl, key, tx) => pawl.publish("note", { key }, { aggregate: { type: "order", id: key }, tx }),
    changes: async (_pawl, key, query) =>
      (await query("select 1 from pawl.messages where aggregate_id = $1", [key])).length,
    expected: 1,
  },
  {
    name: "receive",
    prepare: begin,
    call: (pawl, key, tx) => pawl.receive(order, key, "noted", { dedupeKey: "1", tx }),
    changes: versions,
    expected: 2,
  },
  {
    name: "tryReceive that is refused",
    call: async (pawl, key, tx) => {
      const received = await pawl.tryReceive(order, key, "noted", { dedupeKey: "1", tx });
      expect(received).toMatchObject({ ok: false, error: { code: "instance_unknown" } });
    },
    changes: versions,
    expected: 0,
  },
  {
    name: "callbacks.acceptLate",
    prepare: async (pawl, key) => {
      await begin(pawl, key);
      // It waits for a state to which its instance does not come, since that fails.
      const { id } = await pawl.receive(order, key, "shipped", { dedupeKey: "1" });
      await pawl.send(order, key, "fail");
      waiting.set(key, id);
    },
    call: (pawl, key, tx) => pawl.callbacks.acceptLate(waiting.get(key)!, { tx }),
    changes: versions,
    expected: 3,
  },
  {
    name: "requeue",
    prepare: fail,
    call: (pawl, key, tx) => pawl.deadLetters.requeue(letterOf.get(key)!, { tx, restart: true }),
    changes: async (pawl, key) => ((await pawl.deadLetters.get(letterOf.get(key)!))!.status === "requeued" ? 1 : 0),
    expected: 1,
  },
  {
    name: "discard",
    prepare: fail,
    call: (pawl, key, tx) => pawl.deadLetters.discard(letterOf.get(key)!, { tx }),
    changes: async (pawl, key) => ((await pawl.deadLetters.get(letterOf.get(key)!))!.status === "discarded" ? 1 : 0),
    expected: 1,
  },
  {
    name: "people.add",
    call: (pawl, key, tx) => pawl.people.add(essays, { key, data: { text: "…" } }, { tx }),
    changes: async (pawl, key) => ((await pawl.people.sample({ queue: essays, key })).key === key ? 1 : 0),
    expected: 1,
  },
  {
    name: "people.addMany with a bad sample",
    call: (pawl, key, tx) =>
      pawl.people.addMany(
        essays,
        [
          { key, data: 1 },
          { key: `${key}2`, data: 2, gold: { score: "no" } as never },
        ],
        { tx },
      ),
    refused: "label_invalid",
    changes: async (pawl, key) =>
      (await pawl.people.sample({ queue: essays, key }).then(
        () => 1,
        () => 0,
      )) as number,
    expected: 0,
  },
  {
    name: "crowd.ask",
    call: (pawl, key, tx) => pawl.crowd.ask(receipts, { key, content: { image: "r.png" }, tx }),
    changes: async (pawl, key) => ((await pawl.crowd.job({ crowd: receipts, key })) === undefined ? 0 : 1),
    expected: 1,
  },
  {
    name: "what only reads",
    prepare: begin,
    call: (pawl, key, tx) =>
      Promise.all([
        pawl.get(order, key, { tx }),
        pawl.list(order, { limit: 1, tx }),
        pawl.journal(order, key, { tx }),
        pawl.allowedEvents(order, key, { tx }),
        pawl.children(order, key, { tx }),
      ]),
    changes: versions,
    expected: 1,
  },
  {
    name: "a statement of the user's own",
    call: (_pawl, key, tx) => tx.query("insert into notes (key) values ($1)", [key]),
    changes: async (_pawl, key, query) => (await query("select 1 from notes where key = $1", [key])).length,
    expected: 1,
  },
];

const declared = {
  lifecycles: [order, mail],
  queues: [essays],
  crowds: [receipts],
};

async function addTables(t: TestPawl): Promise<void> {
  await t.pawl.transaction(async (tx) => {
    await tx.query("create table ledger (id uuid primary key)");
    await tx.query("create table notes (key text primary key)");
  });
}

/** Calls each pair of verbs at once on one transaction, and holds what is there after it against what each was answered. */
async function eachPair(
  t: TestPawl,
  list: readonly Verb[],
  within: (work: (tx: () => Transaction) => Promise<void>) => Promise<void>,
): Promise<void> {
  const query: Query = (text, values) => t.pawl.transaction(async (tx) => (await tx.query(text, values)).rows);
  let pair = 0;
  for (const one of list) {
    for (const other of list) {
      const both = [one, other].map((verb, index) => ({ verb, key: `p${pair}-${index}` }));
      pair++;
      for (const { verb, key } of both) await verb.prepare?.(t.pawl, key);
      await within(async (tx) => {
        const ended = await Promise.allSettled(both.map(({ verb, key }) => verb.call(t.pawl, key, tx())));
        const codes = ended.map((end) =>
          end.status === "rejected" ? (end.reason as { code?: string }).code : undefined,
        );
        expect(codes, `${one.name} and ${other.name}`).toEqual(both.map(({ verb }) => verb.refused));
      });
      for (const { verb, key } of both) {
        expect(await verb.changes(t.pawl, key, query), `${verb.name} in ${one.name} and ${other.name}`).toBe(
          verb.expected,
        );
      }
    }
  }
}

eachStore((store) => {
  test("every pair of calls on one `tx` may be made at once, and each is what it was answered", async () => {
    await using t = await store.open(declared);
    await addTables(t);
    await eachPair(t, verbs, (work) => t.pawl.transaction((tx) => work(() => tx)));
  }, 240_000);

  test("a hook may make calls at once on its `tx`, while others wait for the call that it belongs to", async () => {
    await using t = await store.open(declared);
    await addTables(t);
    for (const key of ["outer", "a", "b", "c"]) await begin(t.pawl, key);
    inHook = (tx) =>
      Promise.all([
        t.pawl.send(order, "a", "noted", { tx }),
        expect(t.pawl.send(order, "b", "declined", { tx })).rejects.toMatchObject({ code: "hook_failed" }),
        tx.query("insert into notes (key) values ('hook')"),
      ]);
    try {
      await t.pawl.transaction(async (tx) => {
        const ended = await Promise.allSettled([
          t.pawl.send(order, "outer", "paid", { tx }),
          t.pawl.send(order, "c", "shipped", { tx }),
          tx.query("insert into notes (key) values ('own')"),
        ]);
        expect(ended.map((end) => end.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      });
    } finally {
      inHook = undefined;
    }
    expect(await Promise.all(["outer", "a", "b", "c"].map((key) => versions(t.pawl, key)))).toEqual([2, 2, 1, 1]);
    const { rows } = await t.pawl.transaction((tx) => tx.query("select key from notes order by key"));
    expect(rows).toEqual([{ key: "hook" }, { key: "own" }]);
  });

  test("a call that a hook makes without waiting for it is over before the move is written", async () => {
    await using t = await store.open(declared);
    await addTables(t);
    for (const key of ["outer", "a"]) await begin(t.pawl, key);
    let left: Promise<unknown> | undefined;
    inHook = (tx) => {
      left = Promise.allSettled([
        t.pawl.send(order, "a", "declined", { tx }),
        t.pawl.send(order, "a", "noted", { tx }),
      ]);
    };
    try {
      await t.pawl.send(order, "outer", "paid");
    } finally {
      inHook = undefined;
    }
    expect(await left).toMatchObject([{ status: "rejected" }, { status: "fulfilled" }]);
    expect(await Promise.all(["outer", "a"].map((key) => versions(t.pawl, key)))).toEqual([2, 2]);
  });
});

const server = process.env.PAWL_TEST_POSTGRES_URL;
const few = ["start", "start with bad data", "send", "send that is refused", "send with a hook that throws", "publish"];

describe.skipIf(server === undefined)("on transactions of other libraries", () => {
  async function pairs(
    open: (url: string) => Promise<{
      within: (work: (tx: () => TransactionLike) => Promise<void>) => Promise<void>;
      close: () => Promise<unknown>;
    }>,
  ): Promise<void> {
    await using t = await testPawl({ ...declared, server });
    await addTables(t);
    const { within, close } = await open(t.url!);
    try {
      await eachPair(
        t,
        verbs.filter(({ name }) => few.includes(name)),
        within,
      );
    } finally {
      await close();
    }
  }

  async function onClient(
    url: string,
    adapt: (client: pg.Client) => () => TransactionLike,
  ): ReturnType<Parameters<typeof pairs>[0]> {
    const client = new pg.Client(url);
    await client.connect();
    return {
      within: async (work) => {
        await client.query("begin");
        await work(adapt(client));
        await client.query("commit");
      },
      close: () => client.end(),
    };
  }

  test("a pg client", () => pairs((url) => onClient(url, (client) => () => client)));

  test("a transaction of Kysely, wrapped anew for each call", () =>
    pairs(async (url) => {
      const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });
      return {
        within: (work) => db.transaction().execute((trx) => work(() => fromKysely(trx))),
        close: () => db.destroy(),
      };
    }));

  test("a transaction of Drizzle, wrapped anew for each call", () =>
    pairs(async (url) => {
      const pool = new pg.Pool({ connectionString: url });
      return {
        within: (work) => drizzle(pool).transaction((trx) => work(() => fromDrizzle(trx, sql))),
        close: () => pool.end(),
      };
    }));

  test("what runs raw SQL the way Prisma does, wrapped anew for each call", () =>
    pairs((url) =>
      onClient(url, (client) => {
        const transaction = {
          $queryRawUnsafe: async (text: string, ...values: unknown[]) => (await client.query(text, values)).rows,
        };
        return () => fromPrisma(transaction);
      }),
    ));

  test.skipIf(prismaFolder === undefined)("a transaction of Prisma's own client, wrapped anew for each call", () =>
    pairs(async (url) => {
      const prisma = await openPrisma(prismaFolder!, url);
      return {
        within: (work) => prisma.$transaction((trx) => work(() => fromPrisma(trx)), { timeout: 60_000 }),
        close: () => prisma.$disconnect(),
      };
    }),
  );

  test("a call sends one statement at a time, also where instances are named by key and by id", async () => {
    await using t = await testPawl({ ...declared, server });
    await begin(t.pawl, "by key");
    const { id } = await t.pawl.start(order, { key: "by id", data: { amount: 1 } });
    const client = new pg.Client(t.url!);
    await client.connect();
    await client.query("begin");
    let [running, most] = [0, 0];
    const tx: TransactionLike = {
      query: async (text, values) => {
        running += 1;
        most = Math.max(most, running);
        try {
          return await client.query(text, values as unknown[]);
        } finally {
          running -= 1;
        }
      },
    };
    const sent = await t.pawl.sendMany(
      order,
      [
        { to: { id }, event: "noted" },
        { to: "by key", event: "noted" },
      ],
      { tx },
    );
    expect([sent.map(({ ok }) => ok), most]).toEqual([[true, true], 1]);
    await client.query("commit");
    await client.end();
  });

  test("when one of several calls is refused and the transaction rolled back, none of the others is written", async () => {
    await using t = await testPawl({ ...declared, server });
    await addTables(t);
    const client = new pg.Client(t.url!);
    await client.connect();
    await client.query("begin");
    const running = [
      t.pawl.start(order, { key: "first", data: { amount: 1 }, tx: client }),
      t.pawl.start(order, { key: "bad", data: { amount: "no" as never }, tx: client }),
      t.pawl.start(order, { key: "last", data: { amount: 1 }, tx: client }),
    ];
    await expect(Promise.all(running)).rejects.toMatchObject({ code: "data_invalid" });
    await client.query("rollback");
    await expect(running[0]).resolves.toMatchObject({ created: true });
    await expect(running[2]).rejects.toMatchObject({ code: "not_a_transaction" });
    await client.end();
    expect(await t.pawl.inspect.counts(order)).toEqual({});
  });
});
