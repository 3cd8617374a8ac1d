import { afterAll, beforeAll, expect, test } from "vitest";
import { PawlError } from "../../src/base/errors.ts";
import { fireTimers } from "../../src/kernel/move/fire-timers.ts";
import { report } from "../../src/kernel/tasks/report.ts";
import type { ClaimedTask } from "../../src/kernel/types/claimed-task.ts";
import type { Outcome } from "../../src/kernel/types/outcome.ts";
import { maintain } from "../../src/maintenance/round.ts";
import { type Db, type Statement, sql } from "../../src/store/port/db.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onOwnPostgres } from "../setup/suites.ts";
import { check } from "./checks/checker.ts";
import { reportMark } from "./checks/ledger.ts";
import { type BehindProxy, openBehindProxy } from "./harm/behind-proxy.ts";
import { holdMove, someoneWaits } from "./harm/hold-move.ts";
import { errand } from "./worlds/errand.ts";

const moving = /update pawl\.instances as instance/;
const starting = /insert into pawl\.instances/;
const committing = /^Q....commit\0/s;
const puttingBack = /put_back as/;

const worked: Outcome = { kind: "event", event: "worked", payload: undefined, patch: {}, messages: [] };
const failed: Outcome = { kind: "failed", error: new Error("tired") };

/** A call whose statement is carried out and whose reply is lost, with the answer that it must get all the same. */
interface LostReply {
  readonly of: string;
  readonly losing: RegExp;
  /** How many replies are lost, one after the other; by default 1. */
  readonly times?: number;
  readonly call: (t: BehindProxy) => Promise<unknown>;
  readonly answer: unknown;
}

const lostReplies: readonly LostReply[] = [
  {
    of: "the commit of a send",
    losing: moving,
    call: (t) => t.pawl.send(errand, "e", "turned", { actor: "m" }),
    answer: { state: "away", version: 2 },
  },
  {
    of: "the commit of a send, and of the first looks for it",
    losing: /update pawl\.instances as instance|from pawl\.journal as each/,
    times: 3,
    call: (t) => t.pawl.send(errand, "e", "turned", { actor: "m" }),
    answer: { state: "away", version: 2 },
  },
  {
    of: "the commit of a send with an idempotency key",
    losing: moving,
    call: async (t) => {
      const options = { actor: "m", idempotencyKey: "k", expectedVersion: 1 };
      const first = await t.pawl.send(errand, "e", "turned", options);
      expect(await t.pawl.send(errand, "e", "turned", options)).toEqual(first);
      return first;
    },
    answer: { state: "away", version: 2 },
  },
  {
    of: "the commit of many sends",
    losing: moving,
    call: (t) => t.pawl.sendMany(errand, [{ to: "e", event: "turned", actor: "m" }]),
    answer: [{ ok: true, instance: { state: "away", version: 2 } }],
  },
  {
    of: "the COMMIT of a send with a hook",
    losing: committing,
    call: (t) => t.pawl.send(errand, "e", "booked", { actor: "m" }),
    answer: { state: "ready", version: 2 },
  },
  {
    of: "a statement of a hook",
    losing: /insert into booked/,
    call: (t) => t.pawl.send(errand, "e", "booked", { actor: "m" }),
    answer: { state: "ready", version: 2 },
  },
  {
    of: "the commit of an event for later that is due at once",
    losing: moving,
    call: (t) => t.pawl.send(errand, "e", "noted", { actor: "m", after: 1 }),
    answer: { state: "ready" },
  },
  {
    of: "the commit of a start",
    losing: starting,
    call: (t) => t.pawl.start(errand, { key: "f", actor: "m" }),
    answer: { state: "ready", created: true },
  },
  {
    of: "the commit of a start without a key, and of the first looks for it",
    losing: /insert into pawl\.instances|where each\.id = wanted\.id offset 0/,
    times: 4,
    call: (t) => t.pawl.start(errand, { actor: "m" }),
    answer: { state: "ready", created: true },
  },
];

interface LostReport extends Omit<LostReply, "call"> {
  readonly lane: "working" | "after";
  readonly outcome: Outcome;
}

const lostReports: readonly LostReport[] = [
  { of: "a step that ended", losing: moving, lane: "working", outcome: worked, answer: "written" },
  { of: "a step that failed", losing: puttingBack, lane: "working", outcome: failed, answer: "written" },
  {
    of: "a step that was given back, and of the first looks for it",
    losing: /put_back as|from pawl\.attempts as each/,
    times: 3,
    lane: "working",
    outcome: { kind: "released" },
    answer: "written",
  },
  {
    of: "an effect that is done",
    losing: /delete from pawl\.tasks as task using held/,
    lane: "after",
    outcome: { kind: "done" },
    answer: "written",
  },
];

onOwnPostgres("PostgreSQL behind a network that loses replies", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ durable: true });
  });
  afterAll(() => server.stop());

  async function open(change?: (db: Db) => Db): Promise<BehindProxy> {
    const t = await openBehindProxy(server.url, change);
    await t.pawl.start(errand, { key: "e" });
    return t;
  }

  for (const lost of lostReplies) {
    test(`the lost reply of ${lost.of} is made up for: it is done, once, and its caller is told so`, async () => {
      await using t = await open();
      t.ledger.begin("m");
      t.proxy.loseReplies(lost.losing, lost.times);
      expect(await lost.call(t)).toMatchObject(lost.answer as object);
      expect(t.proxy.cuts.replies).toBe(lost.times ?? 1);
      t.ledger.answer("m", "done");
      await maintain(t.kernel, t.lanes);
      expect(await check(t.db, t.ledger)).toEqual([]);
    });
  }

  for (const lost of lostReports) {
    test(`the lost reply of a report of ${lost.of} is made up for: the worker is not told that it lost its lease`, async () => {
      await using t = await open();
      const task = await claimedTask(t, lost.lane);
      t.proxy.loseReplies(lost.losing, lost.times);
      expect(await report(t.kernel, [{ task: task, outcome: lost.outcome }])).toEqual([lost.answer]);
      expect(t.proxy.cuts.replies).toBe(lost.times ?? 1);
      if (lost.lane === "working") {
        t.ledger.begin(reportMark(task.lease.token));
        t.ledger.answer(reportMark(task.lease.token), "done");
      }
      expect(await check(t.db, t.ledger)).toEqual([]);
      expect(await report(t.kernel, [{ task: task, outcome: lost.outcome }])).toEqual(["lease_lost"]);
    });
  }

  test("sixty callers at once, every reply of a commit lost for a while: each gets its own true answer", async () => {
    await using t = await open();
    const keys = Array.from({ length: 6 }, (_, index) => `k${index}`);
    await t.pawl.startMany(
      errand,
      keys.map((key) => ({ key })),
    );
    t.proxy.loseReplies(new RegExp([moving, starting, committing].map((one) => one.source).join("|"), "s"), 8);
    const events = ["turned", "noted", "booked"] as const;
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        t.ledger.begin(`m${index}`);
        const sent = await t.pawl.trySend(errand, keys[index % keys.length]!, events[index % 3]!, {
          actor: `m${index}`,
        });
        t.ledger.answer(`m${index}`, sent.ok ? "done" : "not done");
      }),
    );
    expect(t.proxy.cuts.replies).toBe(8);
    expect(t.ledger.told("done").length).toBeGreaterThan(40); // "turned" takes turns with itself, and "booked" is refused away from home.
    expect(await check(t.db, t.ledger)).toEqual([]);
  });

  test("the owner of a transaction whose COMMIT got no reply is told that its outcome is unknown", async () => {
    await using t = await open();
    t.ledger.begin("m");
    t.proxy.loseReplies(committing);
    const committed = t.pawl.transaction((tx) => t.pawl.send(errand, "e", "booked", { actor: "m", tx }));
    await expect(committed).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(await check(t.db, t.ledger)).toEqual([]);
    expect(await t.pawl.get(errand, "e")).toMatchObject({ version: 2 });
  });

  test("a transaction that the server rolled back is not said to be committed", async () => {
    await using t = await open();
    const swallowing = t.pawl.transaction(async (tx) => {
      await t.pawl.send(errand, "e", "turned", { tx });
      await tx.query("select 1 / 0").catch(() => {});
    });
    await expect(swallowing).rejects.toThrow("rolled back instead of committed");
    expect(await t.pawl.get(errand, "e")).toMatchObject({ state: "ready" });
  });

  test("a send whose first try is still under way at the server waits for it, and counts it once", async () => {
    await using t = await open();
    t.ledger.begin("m");
    const letGo = await holdMove(t);
    const sending = t.pawl.send(errand, "e", "turned", { actor: "m" });
    await someoneWaits(t);
    const lookedFor = t.proxy.whenAnswered(/from pawl\.journal as each/);
    t.proxy.cutAll();
    await lookedFor;
    await letGo();
    expect(await sending).toMatchObject({ state: "away", version: 2 });
    t.ledger.answer("m", "done");
    expect(await check(t.db, t.ledger)).toEqual([]);
  });

  test("a server that is heard no more is asked on another connection", async () => {
    await using t = await open();
    t.ledger.begin("m");
    t.proxy.blackhole = true;
    const sending = t.pawl.send(errand, "e", "turned", { actor: "m" });
    t.proxy.blackhole = false;
    t.proxy.cutAll();
    expect(await sending).toMatchObject({ state: "away", version: 2 });
    t.ledger.answer("m", "done");
    expect(await check(t.db, t.ledger)).toEqual([]);
  });

  test("a database that cannot be reached after a lost reply does not make a send undone", async () => {
    await using t = await open();
    t.ledger.begin("m");
    const letGo = await holdMove(t);
    // The second try finds the row locked by the first; then no reply comes for a while, and the first try is executed.
    t.faults.plant("commit.after", async () => {
      t.proxy.refuse = 3;
      t.proxy.cutAll();
      await letGo();
    });
    const sending = t.pawl.send(errand, "e", "turned", { actor: "m" });
    await someoneWaits(t);
    t.proxy.cutAll();
    expect(await sending).toMatchObject({ state: "away", version: 2 });
    expect(t.proxy.refuse).toBe(0);
    t.ledger.answer("m", "done");
    expect(await check(t.db, t.ledger)).toEqual([]);
  });

  for (const [event, version] of [
    ["noted", 2],
    ["woke", 1], // Refused at its time.
  ] as const) {
    test(`an event for later (${event}) whose time came before its lost reply was looked for is not sent again`, async () => {
      let afterWriting: (() => Promise<void>) | undefined;
      await using t = await open((db) => ({
        ...through(db),
        async rows<Row>(statement: Statement): Promise<Row[]> {
          const rows = await db.rows<Row>(statement);
          if (afterWriting === undefined || !moving.test(statement.text)) return rows;
          await afterWriting();
          throw new PawlError("outcome_unknown", "The reply was lost.");
        },
      }));
      afterWriting = async () => {
        afterWriting = undefined;
        while ((await fireTimers(t.kernel, 10)).fired === 0);
      };
      await t.pawl.send(errand, "e", event, { after: 1 });
      const waiting = await t.db.rows(sql`select from pawl.timers`);
      expect(waiting).toEqual([]);
      expect(await t.pawl.get(errand, "e")).toMatchObject({ version });
    });
  }

  for (const look of [1, 2, 3]) {
    test(`a report whose first try ends before the ${look}. look for it is not taken for lost`, async () => {
      let looks = 0;
      let letGo: (() => Promise<void>) | undefined;
      await using t = await open((db) => ({
        ...through(db),
        async rows(statement) {
          // At the instance, at its lease and at its journal, in whichever order.
          if (letGo !== undefined && !moving.test(statement.text) && ++looks === look) await letGo();
          return db.rows(statement);
        },
      }));
      const task = await claimedTask(t, "working");
      letGo = await holdMove(t);
      const reporting = report(t.kernel, [{ task: task, outcome: worked }]);
      await someoneWaits(t);
      t.proxy.cutAll();
      expect(await reporting).toEqual(["written"]);
      expect(looks).toBe(3);
    });
  }

  for (const [outcome, writing, times] of [
    [failed, puttingBack, 1],
    [worked, moving, 4], // Three times without a transaction, and then in one.
  ] as const) {
    test(`a report (${outcome.kind}) that meets the renewal of its own lease is not taken for lost`, async () => {
      await using t = await open();
      const task = await claimedTask(t, "working");
      const { reporting } = await t.db.transaction(async (tx) => {
        await tx.query("select from pawl.tasks for update");
        const started = report(t.kernel, [{ task: task, outcome }]);
        for (let passedOver = 0; passedOver < times; passedOver++) await t.proxy.whenAnswered(writing);
        return { reporting: started };
      });
      expect(await reporting).toEqual(["written"]);
    });
  }

  test("a kernel that does not look for its traces is found out by the callers' own story", async () => {
    await using t = await open((db) => ({
      ...through(db),
      rows: async (statement) => (/as asked\(id, request_id/.test(statement.text) ? [] : db.rows(statement)),
    }));
    t.ledger.begin("m");
    t.proxy.loseReplies(moving);
    await t.pawl.send(errand, "e", "noted", { actor: "m" });
    t.ledger.answer("m", "done");
    expect(await check(t.db, t.ledger)).toEqual([
      { invariant: "I8", message: 'm was told "done", and left 2 rows instead of 1' },
    ]);
  });
});

/** A claimed task of the errand "e". */
async function claimedTask(t: BehindProxy, lane: "working" | "after"): Promise<ClaimedTask> {
  await t.pawl.send(errand, "e", lane === "after" ? "ended" : "sent_to_work");
  return t.claim(lane);
}

function through(db: Db): Db {
  return {
    kind: db.kind,
    rows: (statement) => db.rows(statement),
    transaction: (work) => db.transaction(work),
    script: (text) => db.script(text),
    close: () => db.close(),
  };
}
