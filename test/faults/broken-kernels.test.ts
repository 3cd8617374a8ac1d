import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { openOn } from "../../src/create.ts";
import { laneOf } from "../../src/definition/model.ts";
import type { Outcome } from "../../src/kernel/filing.ts";
import { lanesOf } from "../../src/kernel/lanes.ts";
import { report } from "../../src/kernel/report.ts";
import { type Taken, take } from "../../src/kernel/take.ts";
import { maintain } from "../../src/maintenance/round.ts";
import type { Db, Executor, Statement } from "../../src/store/db.ts";
import { installTestClock, testEpochMs } from "../../src/testing/clock.ts";
import { PlantedFaults } from "../../src/testing/faults.ts";
import { borrowMemoryStore } from "../../src/testing/stores.ts";
import { type Violation, verify } from "../../src/views/verify.ts";

/**
 * The checker is proved by kernels that are broken on purpose: each lacks one line of one statement, lives through a
 * scene in which that line matters, and must be found out by `verify` or stopped by the database itself. The same scene
 * with the whole kernel must leave nothing to complain about.
 */
interface BrokenKernel {
  readonly lacks: string;
  /** What is taken out of which statement, and what stands there instead. */
  readonly changes: readonly (readonly [from: string, to: string])[];
  readonly scene: (t: Scene) => Promise<unknown>;
  readonly caughtBy: Violation["invariant"] | "the database";
}

const crate = lifecycle("crate", {
  initial: "packing",
  on: { noted: {} },
  states: {
    packing: {
      run: async () => {},
      retry: { maxAttempts: 5, backoff: () => 1_000 },
      on: { packed: "waiting" },
    },
    waiting: { timeout: { after: "7d", send: "fail" }, on: { shipped: "gone" } },
    gone: { final: "success" },
  },
});

const brokenKernels: readonly BrokenKernel[] = [
  {
    lacks: "the check of the token when a step is reported",
    changes: [["task.token = decided.token", "decided.token is not null"]],
    caughtBy: "I3",
    scene: async (t) => {
      const slow = await t.claim();
      await t.advance(31_000);
      await t.claim();
      await t.tell(slow, packed);
    },
  },
  {
    lacks: "every check of the token, for a holder whose visit was left and entered again",
    changes: [
      ["task.token = decided.token", "decided.token is not null"],
      ["each.id = lease.id and each.token = lease.token", "each.id = lease.id"],
    ],
    caughtBy: "I3",
    scene: async (t) => {
      const slow = await t.claim();
      await t.pawl.send(crate, "c", "fail");
      await t.pawl.send(crate, "c", "recover");
      await t.claim();
      await t.tell(slow, packed);
    },
  },
  {
    lacks: "the record of a claim",
    changes: [["from claimed, clock", "from claimed, clock where false"]],
    caughtBy: "I3",
    scene: async (t) => t.tell(await t.claim(), packed),
  },
  {
    lacks: "the check of the version",
    changes: [["and instance.version = decided.expected_version", ""]],
    caughtBy: "the database",
    scene: async (t) => {
      t.faults.plant("commit.before", () => t.pawl.send(crate, "c", "noted").then(() => {}));
      await t.pawl.send(crate, "c", "noted");
    },
  },
  {
    lacks: "the journal",
    changes: [["from written where written.event is not null", "from written where false"]],
    caughtBy: "the database",
    scene: (t) => t.pawl.send(crate, "c", "noted"),
  },
  {
    lacks: "the event that was declared",
    changes: [["written.definition, written.event,", "written.definition, 'teleported',"]],
    caughtBy: "the database",
    scene: (t) => t.pawl.send(crate, "c", "noted"),
  },
  {
    lacks: "tokens that rise",
    changes: [["token = nextval('pawl.tokens')", "token = task.token"]],
    caughtBy: "the database",
    scene: async (t) => {
      await t.tell(await t.claim(), { kind: "released" });
      await t.claim();
    },
  },
  {
    lacks: "the count of attempts",
    changes: [["attempt = task.attempt + 1", "attempt = task.attempt"]],
    caughtBy: "I6",
    scene: (t) => t.claim(),
  },
  {
    lacks: "attempts that add up",
    changes: [["attempt = task.attempt + 1", "attempt = 1"]],
    caughtBy: "I6",
    scene: async (t) => {
      await t.tell(await t.claim(), { kind: "failed", error: new Error("no box") });
      await t.advance(1_000);
      await t.claim();
    },
  },
  {
    lacks: "the second look at a lapsed lease",
    changes: [
      ["and each.token = setback.token and each.worker is not null", ""],
      ["and (setback.what <> 'lapsed' or each.leased_until <= clock.now)", ""],
    ],
    caughtBy: "I6",
    scene: async (t) => {
      await t.claim();
      await t.clock.set(testEpochMs + 31_000);
      t.faults.plant("lapse.read", () => t.advance(0)); // Another sweeper comes first.
      await t.advance(0);
    },
  },
  {
    lacks: "the task of a state that works",
    changes: [["where fresh.lane is not null", "where false"]],
    caughtBy: "tasks",
    scene: (t) => t.pawl.start(crate, { key: "d" }),
  },
  {
    lacks: "the end of a task whose state was left",
    changes: [["and written.drops_task", "and false"]],
    caughtBy: "tasks",
    scene: (t) => t.pawl.send(crate, "c", "fail"),
  },
  {
    lacks: "the moment of the next timer",
    changes: [["next_due_at = case when free.outcome is null", "next_due_at = case when false"]],
    caughtBy: "timers",
    scene: async (t) => t.tell(await t.claim(), packed),
  },
  {
    lacks: "the end of a timer whose visit is over",
    changes: [["(written.leaves and timer.visit is not null)", "false"]],
    caughtBy: "timers",
    scene: async (t) => {
      await t.tell(await t.claim(), packed);
      await t.pawl.send(crate, "c", "fail");
    },
  },
  {
    lacks: "the counting of those that moved",
    changes: [["having sum(change.delta) <> 0", "having false"]],
    caughtBy: "counts",
    scene: async (t) => t.tell(await t.claim(), packed),
  },
];

const packed: Outcome = { kind: "event", event: "packed", payload: undefined, patch: {}, messages: [] };

for (const kernel of brokenKernels) {
  test(`a kernel without ${kernel.lacks} is caught by ${kernel.caughtBy}`, async () => {
    {
      await using whole = await openScene([]);
      await kernel.scene(whole);
      expect([...(await verify(whole.db)), ...whole.refusals]).toEqual([]);
    }
    await using broken = await openScene(kernel.changes);
    await kernel.scene(broken).catch(() => {});
    expect(broken.unchanged(), "Statements were written anew, and the broken kernel is not broken any more").toEqual(
      [],
    );
    const violations = await verify(broken.db, { slice: 1 });
    if (kernel.caughtBy === "the database") {
      expect(broken.refusals).not.toEqual([]);
      expect(violations).toEqual([]); // What was refused left nothing behind.
    } else {
      expect(violations.map((one) => one.invariant)).toContain(kernel.caughtBy);
    }
  });
}

test("a history that was tampered with is refused by the database, and found when its guards were off", async () => {
  await using t = await openScene([]);
  const { id } = await t.pawl.send(crate, "c", "noted");
  for (const text of [
    "update pawl.journal set to_state = 'gone'",
    "delete from pawl.journal",
    "delete from pawl.attempts",
    "truncate pawl.journal",
    "delete from pawl.instances",
    "update pawl.instances set state = 'gone'",
    "update pawl.instances set version = version + 1",
  ]) {
    if (text === "delete from pawl.attempts") await t.claim();
    await expect(t.db.script(text), text).rejects.toThrow();
  }
  expect(await verify(t.db)).toEqual([]);
  await t.db.script(`
    set session_replication_role = replica;
    delete from pawl.journal where version = 2;
    insert into pawl.timers (instance_id, id, kind, due_at, event)
      values ('ffffffff-0000-7000-8000-000000000000', '${id}', 'send', pawl.now(), 'noted');
    update pawl.instances set state = 'elsewhere', shelf = null;
    set session_replication_role = origin;`);
  expect(new Set((await verify(t.db)).map((one) => one.invariant))).toEqual(new Set(["I1", "I2", "counts"]));
  expect(await verify(t.db, { most: 2 })).toHaveLength(2);
});

type Scene = Awaited<ReturnType<typeof openScene>>;

/** A crate "c" at its first step, moved by a kernel whose statements are changed on their way to the database. */
async function openScene(changes: BrokenKernel["changes"]) {
  const store = await borrowMemoryStore();
  const clock = await installTestClock(store.db);
  const faults = new PlantedFaults();
  const { db, unchanged, refusals, breakNow } = changed(store.db, changes);
  const { pawl, kernel } = await openOn(db, { lifecycles: [crate], logger: false }, { clock, faults });
  const lanes = await lanesOf(kernel);
  await pawl.start(crate, { key: "c" });
  breakNow();
  return {
    pawl,
    clock,
    faults,
    db: store.db,
    unchanged,
    refusals,
    async claim(): Promise<Taken> {
      const wanted = { lanes: [laneOf(crate, "packing")], limit: 1, share: 1, worker: "w", leaseMs: 30_000 };
      return (await take(kernel, wanted))[0]!;
    },
    tell: (taken: Taken, outcome: Outcome) => report(kernel, [{ taken, outcome }]),
    async advance(ms: number): Promise<void> {
      if (ms > 0) await clock.set(clock.nowMs() + ms);
      await maintain(kernel, lanes);
    },
    [Symbol.asyncDispose]: () => store.dispose(),
  };
}

/** The same database behind statements that lack something. */
function changed(db: Db, changes: BrokenKernel["changes"]) {
  let isBroken = false;
  const left = new Set(changes.map(([from]) => from));
  const change = (statement: Statement): Statement => {
    let { text } = statement;
    if (!isBroken) return statement;
    for (const [from, to] of changes) {
      if (text.includes(from)) left.delete(from);
      text = text.replaceAll(from, to);
    }
    return text === statement.text ? statement : { ...statement, text, name: "" };
  };
  const refusals: unknown[] = [];
  const through = (executor: Executor) => ({
    rows: <Row>(one: Statement) =>
      executor.rows<Row>(change(one)).catch((error: unknown) => {
        refusals.push(error);
        throw error;
      }),
  });
  const behind: Db = {
    kind: db.kind,
    ...through(db),
    transaction: (work) => db.transaction((tx) => work({ query: tx.query.bind(tx), ...through(tx) })),
    script: (text) => db.script(text),
    close: () => db.close(),
  };
  return {
    db: behind,
    refusals,
    breakNow: () => {
      isBroken = true;
    },
    unchanged: () => [...left],
  };
}
