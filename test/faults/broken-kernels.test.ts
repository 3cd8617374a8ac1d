import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { openOn } from "../../src/api/open/create.ts";
import { laneOf } from "../../src/definition/model.ts";
import { verify } from "../../src/inspect/verify/verify.ts";
import { lanesOf } from "../../src/kernel/lanes/lanes.ts";
import { claimFromLanes } from "../../src/kernel/tasks/claim.ts";
import { report } from "../../src/kernel/tasks/report.ts";
import type { ClaimedTask } from "../../src/kernel/types/claimed-task.ts";
import type { Outcome } from "../../src/kernel/types/outcome.ts";
import { maintain } from "../../src/maintenance/round.ts";
import type { Db, Executor, Statement } from "../../src/store/port/db.ts";
import { installTestClock, testEpochMs } from "../../src/testing/clock.ts";
import { PlantedFaults } from "../../src/testing/faults.ts";
import { borrowMemoryStore } from "../../src/testing/stores.ts";
import { Accepted } from "./checks/accepted.ts";
import { Bounds } from "./checks/bounds.ts";
import { check, type Invariant } from "./checks/checker.ts";
import { Handlers } from "./checks/handlers.ts";
import { Ledger, reportMark } from "./checks/ledger.ts";
import { Limits } from "./checks/limits.ts";
import { Liveness } from "./checks/liveness.ts";
import { createBooked } from "./worlds/errand.ts";

/**
 * Proves the checker with kernels that are broken on purpose: each lacks one line of one statement, runs a scene in
 * which that line matters, and must be found by the checker or stopped by the database itself. The same scene with the
 * complete kernel must leave no finding.
 */
interface BrokenKernel {
  readonly lacks: string;
  /** What is removed from which statement, and its replacement. */
  readonly changes: readonly (readonly [from: string, to: string])[];
  readonly scene: (t: Scene) => Promise<unknown>;
  readonly caughtBy: Invariant | "the database";
}

const crate = lifecycle("crate", {
  initial: "packing",
  deadline: { within: "30d" },
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

/** Without a deadline: nothing else ends its wait. */
const letter = lifecycle("letter", {
  initial: "sent",
  states: {
    sent: { timeout: { after: "7d", send: "fail" }, on: { answered: "done" } },
    done: { final: "success" },
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
    lacks: "a token of its own for each claim",
    changes: [["::bigint + few.place", "::bigint * 0 + task.token"]],
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
      ["and each.token = returned.token and each.worker is not null", ""],
      ["and (returned.what <> 'lapsed' or each.leased_until <= clock.now)", ""],
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

/** Neither the decision nor the commit considers what is due. */
const dueForgotten: BrokenKernel["changes"] = [
  ["pawl.ms(instance.next_due_at) as next_due_ms", "null::float8 as next_due_ms"],
  ["or instance.next_due_at > clock.now", "or true"],
];

const brokenPromises: readonly BrokenKernel[] = [
  {
    lacks: "the messages of a move",
    changes: [["where (message.aggregate_id in (select id from written)) is true", "where false"]],
    caughtBy: "I4",
    scene: async (t) => t.tell(await t.claim(), { ...packed, messages: [{ type: "packed", payload: {} }] }),
  },
  {
    lacks: "the record of what was cut off",
    changes: [["where (held.id in (select task_id from put_back)) is true", "where false"]],
    caughtBy: "I5",
    scene: async (t) => {
      await t.claim();
      await t.advance(31_000);
      await t.tell(await t.claim(), packed);
    },
  },
  {
    lacks: "the time of a timer",
    changes: [
      ["pawl.ms(instance.next_due_at) as next_due_ms", "0::float8 as next_due_ms"],
      ["each.due_at <= pawl.at(due.as_of_ms)", "due.as_of_ms is not null"],
    ],
    caughtBy: "I7",
    scene: (t) => t.pawl.send(crate, "c", "noted"),
  },
  {
    lacks: "what is due before a late event",
    changes: dueForgotten,
    caughtBy: "I7",
    scene: async (t) => {
      await t.tell(await t.claim(), packed);
      await t.clock.set(testEpochMs + days(8));
      await t.pawl.trySend(crate, "c", "shipped");
    },
  },
  {
    lacks: "what is due before an event that changes no state",
    changes: dueForgotten,
    caughtBy: "I7",
    scene: async (t) => {
      await t.clock.set(testEpochMs + days(31));
      await t.pawl.send(crate, "c", "noted");
    },
  },
  {
    lacks: "the memory of a call that is repeated",
    changes: [["where (request.instance_id in (select id from written)) is true", "where false"]],
    caughtBy: "I8",
    scene: async (t) => {
      t.ledger.begin("m");
      for (let call = 0; call < 2; call++)
        await t.pawl.send(crate, "c", "noted", { actor: "m", idempotencyKey: "once" });
      t.ledger.answer("m", "done");
    },
  },
  {
    lacks: "the search for silent workers",
    changes: [["and each.worker is not null and each.leased_until <= clock.now", "and false"]],
    caughtBy: "I9",
    scene: async (t) => {
      await t.claim();
      await t.advance(600_000);
    },
  },
  {
    lacks: "the search for what is to be tried again",
    changes: [["each.due_at <= clock.now", "false"]],
    caughtBy: "I9",
    scene: async (t) => {
      await t.tell(await t.claim(), { kind: "failed", error: new Error("no box") });
      await t.advance(600_000);
    },
  },
  {
    lacks: "the bound of a claim",
    changes: [
      ["::int for update skip locked", "::int + 9 for update skip locked"],
      ["::int\n    ),\n    few as", "::int + 9\n    ),\n    few as"],
      ["as few(id, place)\n      limit (select", "as few(id, place)\n      limit 9 + (select"],
    ],
    caughtBy: "I10",
    scene: async (t) => {
      await t.pawl.start(crate, { key: "d" });
      await t.claim();
    },
  },
];

const silentKernels: readonly BrokenKernel[] = [
  {
    lacks: "the timers of a state that waits",
    changes: [["where (timer.instance_id in (select id from written)) is true", "where false"]],
    caughtBy: "I11",
    scene: (t) => t.pawl.start(letter, { key: "l" }),
  },
];

function days(count: number): number {
  return count * 86_400_000;
}

const packed = { kind: "event", event: "packed", payload: undefined, patch: {}, messages: [] } satisfies Outcome;

for (const kernel of [...brokenKernels, ...brokenPromises, ...silentKernels]) {
  test(`a kernel without ${kernel.lacks} is caught by ${kernel.caughtBy}`, async () => {
    {
      await using whole = await openScene([]);
      await kernel.scene(whole);
      expect([...(await whole.check()), ...whole.refusals]).toEqual([]);
    }
    await using broken = await openScene(kernel.changes);
    await kernel.scene(broken).catch(() => {});
    expect(broken.unchanged(), "Statements were written anew, and the broken kernel is not broken any more").toEqual(
      [],
    );
    const violations = await broken.check();
    if (kernel.caughtBy === "the database") {
      expect(broken.refusals).not.toEqual([]);
      expect(violations).toEqual([]); // A refusal left nothing behind.
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
  expect(await verify(t.db, { limit: 2 })).toHaveLength(2);
});

test("what nobody could have known from the tables alone is told by those who saw it", async () => {
  await using t = await openScene([]);
  const task = await t.claim();
  await t.tell(task, packed);
  expect(await t.check()).toEqual([]);
  t.accepted.ids.push("ffffffff-0000-7000-8000-000000000000");
  t.handlers.begin(`${task.row.id}:packing:1`, 2);
  t.ledger.begin("never");
  t.ledger.answer("never", "done");
  const found = await t.check();
  expect(new Set(found.map((one) => one.invariant))).toEqual(new Set(["I1", "I5", "I8"]));
  await using idle = await openScene([]);
  await idle.tell(await idle.claim(), packed, false);
  expect((await idle.check()).map((one) => one.invariant)).toEqual(["I5"]);
});

type Scene = Awaited<ReturnType<typeof openScene>>;

/** A crate "c" at its first step, moved by a kernel whose statements are changed on their way to the database. */
async function openScene(changes: BrokenKernel["changes"]) {
  const store = await borrowMemoryStore();
  const clock = await installTestClock(store.db);
  const faults = new PlantedFaults();
  const { db, unchanged, refusals, breakNow } = changed(store.db, changes);
  const { pawl, kernel } = await openOn(db, { lifecycles: [crate, letter], logger: false }, { clock, faults });
  const lanes = await lanesOf(kernel);
  await createBooked(store.db);
  const [accepted, handlers, ledger, bounds] = [new Accepted(), new Handlers(), new Ledger(), new Bounds()];
  const { id } = await pawl.start(crate, { key: "c" });
  accepted.ids.push(id);
  const keyOf = ({ row, visit }: ClaimedTask) => `${row.id}:${row.state}:${visit}`;
  breakNow();
  return {
    pawl,
    clock,
    faults,
    db: store.db,
    unchanged,
    refusals,
    accepted,
    handlers,
    ledger,
    async claim(): Promise<ClaimedTask> {
      const wanted = { lanes: [laneOf(crate, "packing")], limit: 1, share: 1, worker: "w", leaseMs: 30_000 };
      const tasks = await claimFromLanes(kernel, wanted);
      bounds.hold("Tasks of a claim", tasks.length, wanted.limit);
      for (const one of tasks) handlers.begin(keyOf(one), one.attempt);
      return tasks[0]!;
    },
    /** `seen`: an outside witness has seen the step done. */
    async tell(task: ClaimedTask, outcome: Outcome, seen = outcome.kind === "event"): Promise<void> {
      if (seen) handlers.end(keyOf(task));
      const mark = reportMark(task.lease.token);
      ledger.begin(mark);
      const [reported] = await report(kernel, [{ task, outcome }]);
      ledger.answer(mark, reported === "written" ? "done" : "not done");
    },
    check: () => check(store.db, accepted, handlers, ledger, new Limits([crate], 0), new Liveness(), bounds),
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
