import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { sqlState } from "../../src/store/port/failures.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStoreAndPooler } from "../support/each-store.ts";
import { rowCounts } from "../support/row-counts.ts";

const letter = lifecycle("letter", {
  retention: "7d",
  initial: "writing",
  deadline: { within: "90d" },
  states: {
    writing: {
      run: (step) => {
        step.publish("letter.written", { id: step.id });
      },
      on: { written: "ready" },
    },
    ready: { timeout: { after: "30d", send: "fail" }, on: { post: { to: "posted", after: () => {} }, hold: {} } },
    posted: { forever: true, on: { arrive: "arrived" } },
    arrived: { final: "success" },
  },
});

/** Has the same names, so that an edge of one could be taken for an edge of the other. */
const memo = lifecycle("memo", {
  initial: "ready",
  states: { ready: { forever: true, on: { shred: "posted" } }, posted: { final: "success" } },
});

interface Move {
  id: string;
  event?: string;
  from?: string | null;
  to?: string;
  /** Of the instance and of the journal row. */
  version?: number;
  journalVersion?: number;
  lifecycle?: string;
  state?: string;
}

/** A move as somebody could write it by hand: the update and its journal row in one statement. */
function moveByHand(move: Move): string {
  const { id, event = "post", from = "ready", to = "posted", version = 3 } = move;
  const { journalVersion = version, state = to, lifecycle: name = "letter" } = move;
  return `
    with moved as (
      update pawl.instances set state = '${state}', shelf = '${state}', version = ${version}, visit = ${version}, moved_at = pawl.now()
      where id = '${id}' returning id
    )
    insert into pawl.journal (instance_id, version, lifecycle, definition, event, from_state, to_state, at, source)
    select id, ${journalVersion}, '${name}', 1, '${event}', ${from === null ? "null" : `'${from}'`}, '${to}', pawl.now(), 'call'
    from moved`;
}

eachStoreAndPooler((store) => {
  /** A letter that is ready at version 2, with a claim in `attempts` and a message. */
  async function ready(): Promise<{ t: TestPawl; id: string }> {
    const t = await store.open({ lifecycles: [letter, memo] });
    const { id } = await t.pawl.start(letter, { key: "l" });
    await t.work();
    return { t, id };
  }

  function byHand(t: TestPawl, text: string): Promise<unknown> {
    return t.db.rows({ text, name: "", values: [] });
  }

  async function refused(t: TestPawl, text: string, state: string, says: string | RegExp): Promise<void> {
    const before = await rowCounts(t);
    const error = await byHand(t, text).then(
      () => undefined,
      (thrown: Error & { cause?: unknown }) => thrown,
    );
    expect(error?.message, text).toMatch(says);
    expect(sqlState(error) ?? sqlState(error?.cause), error?.message).toBe(state);
    expect(await rowCounts(t)).toEqual(before);
  }

  test("a move over a declared edge, with its journal row, is taken also from SQL by hand", async () => {
    const { t, id } = await ready();
    await using _ = t;
    await byHand(t, moveByHand({ id }));
    expect(await t.pawl.get(letter, "l")).toMatchObject({ state: "posted", version: 3 });
    await t.pawl.send(letter, "l", "arrive");
  });

  test("what stands in the journal and among the attempts can be neither changed nor removed", async () => {
    const { t, id } = await ready();
    await using _ = t;
    for (const table of ["journal", "attempts"]) {
      await refused(
        t,
        `update pawl.${table} set at = pawl.now()`,
        "PW001",
        `pawl.${table} is append-only: update is refused`,
      );
      await refused(t, `update pawl.${table} set at = pawl.now() where false`, "PW001", "append-only");
      await refused(t, `truncate pawl.${table}`, "PW001", `pawl.${table} is append-only: truncate is refused`);
      await refused(
        t,
        `delete from pawl.${table}`,
        "PW001",
        `The history of instance ${id} stays as long as the instance`,
      );
      await refused(
        t,
        `delete from pawl.${table} where instance_id = '${id}'`,
        "PW001",
        "stays as long as the instance",
      );
    }
    const again = `
      insert into pawl.journal select * from pawl.journal where version = 2
      on conflict (instance_id, version) do update set event = 'post'`;
    await refused(t, again, "PW001", "append-only");
    await refused(t, "truncate pawl.instances", "0A000", "referenced in a foreign key constraint");
    await refused(t, "truncate pawl.instances cascade", "PW001", "pawl.instances is append-only: truncate is refused");
  });

  test("an instance without its start in the journal is refused", async () => {
    const { t } = await ready();
    await using _ = t;
    const insert = (version: number) => `
      insert into pawl.instances (id, lifecycle, definition, state, shelf, version, visit, data, created_at, moved_at)
      values ('0195a1c0-0000-7000-8000-000000000000', 'letter', 1, 'ready', 'ready', ${version}, 1, '{}', pawl.now(), pawl.now())`;
    await refused(t, insert(1), "PW003", "cannot stand in ready at version 1: its journal does not lead there");
    await refused(t, insert(2), "PW003", "its journal does not lead there");
  });

  test("an instance moved without a journal row is refused, with or without a new version", async () => {
    const { t, id } = await ready();
    await using _ = t;
    const set = (changes: string) => `update pawl.instances set ${changes} where id = '${id}'`;
    await refused(
      t,
      set("state = 'posted', shelf = 'posted'"),
      "PW003",
      `Instance ${id} cannot change at version 2 without a move`,
    );
    await refused(
      t,
      set("state = 'posted', shelf = 'posted', version = 3"),
      "PW003",
      "cannot stand in posted at version 3",
    );
    await refused(t, set("version = 3"), "PW003", "its journal does not lead there");
    await refused(t, set("version = 1, visit = 1"), "PW003", "without a move");
  });

  test("a journal row for a move that the instance has not made is refused", async () => {
    const { t, id } = await ready();
    await using _ = t;
    const insert = (instance: string, version: number, from: string) => `
      insert into pawl.journal (instance_id, version, lifecycle, definition, event, from_state, to_state, at, source)
      values ('${instance}', ${version}, 'letter', 1, 'post', '${from}', 'posted', pawl.now(), 'call')`;
    await refused(t, insert(id, 3, "ready"), "PW003", `Instance ${id} has not made the move 3 of this journal row`);
    await refused(t, insert("0195a1c0-0000-7000-8000-000000000000", 3, "ready"), "PW003", "has not made the move");
    await refused(t, insert(id, 2, "ready"), "23505", "journal_pkey");
  });

  test("a move over an edge that the definition does not declare is refused", async () => {
    const { t, id } = await ready();
    await using _ = t;
    await refused(
      t,
      moveByHand({ id, to: "arrived" }),
      "PW002",
      "Lifecycle letter version 1 declares no edge ready -> arrived by post",
    );
    await refused(t, moveByHand({ id, event: "throw" }), "PW002", "declares no edge ready -> posted by throw");
    await refused(t, moveByHand({ id, from: "writing" }), "PW002", "declares no edge writing -> posted");
    await refused(t, moveByHand({ id, lifecycle: "essay" }), "PW002", "Lifecycle essay version 1 declares no edge");
  });

  test("a move over an edge of another lifecycle is refused, also where the states have the same names", async () => {
    const { t, id } = await ready();
    await using _ = t;
    await refused(t, moveByHand({ id, lifecycle: "memo", event: "shred" }), "PW003", "has not made the move 3");
  });

  test("a journal that skips a version, or does not go on where it ended, is refused", async () => {
    const { t, id } = await ready();
    await using _ = t;
    await refused(t, moveByHand({ id, version: 4 }), "PW003", "has not made the move 4 of this journal row");
    await refused(t, moveByHand({ id, version: 4, journalVersion: 3 }), "PW003", "its journal does not lead there");
    await refused(
      t,
      moveByHand({ id, event: "arrive", from: "posted", to: "arrived" }),
      "PW003",
      "has not made the move 3",
    );
    await refused(t, moveByHand({ id, state: "arrived" }), "PW003", "cannot stand in arrived at version 3");
    await refused(
      t,
      moveByHand({ id, event: "start", from: null, to: "writing" }),
      "23514",
      "journal_start_comes_from_nowhere",
    );
  });

  test("nothing of an instance changes without a move, its timers apart", async () => {
    const { t, id } = await ready();
    await using _ = t;
    const changes = [
      `data = '{"forged": true}'`,
      "visit = 1",
      "run = 2",
      "definition = 7",
      "key = 'other'",
      "lifecycle = 'memo'",
      "created_at = created_at - interval '1 day'",
      "moved_at = moved_at - interval '1 day'",
      "deadline_at = null",
      "failed_from = 'writing', failed_visit = 1",
      "outcome = 'success', closed_at = pawl.now(), next_due_at = null",
      "id = '0195a1c0-0000-7000-8000-000000000000'",
    ];
    for (const change of changes) {
      const text = `update pawl.instances set ${change} where id = '${id}'`;
      await refused(t, text, "PW003", "cannot change at version 2 without a move in its journal");
    }
    await byHand(t, `update pawl.instances set next_due_at = pawl.now(), alarms = alarms + 1 where id = '${id}'`);
  });

  test("an instance cannot be closed in two ways, wait after its end, or be on the shelf of another state", async () => {
    const { t, id } = await ready();
    await using _ = t;
    const set = (changes: string) => `update pawl.instances set ${changes} where id = '${id}'`;
    await refused(t, set("closed_at = pawl.now()"), "PW003", "without a move");
    await refused(t, set("shelf = 'posted'"), "23514", "instances_shelf_is_the_state");
    await refused(t, set("alarms = alarms + 1, visit = 9, version = 3"), "23514", "instances_visit_is_a_version");
  });

  test("an open instance cannot be deleted, nor a closed one within the time that it is kept", async () => {
    const { t, id } = await ready();
    await using _ = t;
    const remove = `delete from pawl.instances where id = '${id}'`;
    await refused(t, remove, "PW004", `Instance ${id} is open or still within its retention, and cannot be deleted`);
    await t.pawl.send(letter, "l", "post");
    await t.work();
    await t.pawl.send(letter, "l", "arrive");
    await t.advance("6d");
    await refused(t, remove, "PW004", "still within its retention");
    await refused(
      t,
      `update pawl.instances set closed_at = closed_at - interval '9 days' where id = '${id}'`,
      "PW003",
      "without a move",
    );
    await t.pawl.start(memo, { key: "m" });
    await t.pawl.send(memo, "m", "shred");
    await t.advance("3650d");
    await refused(t, "delete from pawl.instances where lifecycle = 'memo'", "PW004", "cannot be deleted");
  });

  test("one bad row makes a statement refused as a whole", async () => {
    const { t, id } = await ready();
    await using _ = t;
    await t.pawl.start(letter, { key: "other" });
    await t.pawl.send(letter, "l", "post");
    await t.pawl.send(letter, "l", "arrive");
    await t.advance("8d");
    await refused(t, "delete from pawl.instances", "PW004", "cannot be deleted");
    await byHand(t, `delete from pawl.instances where id = '${id}'`);
  });

  test("an instance past its retention goes with all its rows, and the counts stay right", async () => {
    const { t, id } = await ready();
    await using _ = t;
    await t.pawl.start(letter, { key: "stays" });
    await t.pawl.send(letter, "l", "post", { idempotencyKey: "k" });
    await t.pawl.send(letter, "l", "arrive");
    await t.advance("8d");
    expect(await t.pawl.inspect.counts(letter)).toEqual({ arrived: 1, writing: 1 });
    await byHand(t, "update pawl.messages set status = 'published', processed_at = pawl.now() where place = 0");
    await byHand(t, `delete from pawl.instances where id = '${id}'`);
    expect(await t.pawl.get(letter, "l")).toBeUndefined();
    expect(await t.pawl.inspect.counts(letter)).toEqual({ writing: 1 });
    // What is left is the other letter: its start, its task and its deadline. What is still to be sent would be left, too.
    const left = Object.entries(await rowCounts(t)).filter(([, rows]) => rows > 0);
    expect(Object.fromEntries(left)).toEqual({ instances: 1, journal: 1, tasks: 1, timers: 1, counted: 1 });
    expect(await t.pawl.start(letter, { key: "l" })).toMatchObject({ created: true });
  });

  test("a task is ready, scheduled or running, and a lease has an end", async () => {
    await using t = await store.open({ lifecycles: [letter, memo] });
    const { id } = await t.pawl.start(letter, { key: "l" });
    const set = (changes: string) => `update pawl.tasks set ${changes} where id = '${id}'`;
    await refused(t, set("worker = 'w', leased_until = pawl.now()"), "23514", "tasks_are_ready_scheduled_or_running");
    await refused(t, set("queue = null"), "23514", "tasks_are_ready_scheduled_or_running");
    const run = "queue = null, worker = 'w', leased_until = pawl.now()";
    await refused(t, set(`${run}, due_at = pawl.now()`), "23514", "tasks_are_ready_scheduled_or_running");
    await refused(t, set("gate = lane"), "23514", "tasks_behind_gates_run");
    await refused(t, set(`${run}, gate = 'letter@1/ready'`), "23514", "tasks_gate_is_the_lane");
    await refused(t, set("queue = null, worker = 'w'"), "23514", "tasks_lease_has_end");
    await refused(t, set("leased_until = pawl.now()"), "23514", "tasks_lease_has_end");
    await refused(t, set("queue = 'letter@1/ready'"), "23514", "tasks_queue_is_the_lane");
    await refused(t, set("kind = 'effect'"), "23514", "tasks_step_has_its_instances_id");
    await refused(t, set("attempt = -1"), "23514", "tasks_attempt_check");
  });

  test("a timer of a visit names it, and a worker's move names its task", async () => {
    const { t, id } = await ready();
    await using _ = t;
    await refused(t, `update pawl.timers set visit = null where instance_id = '${id}'`, "23514", "timers_visit_check");
    await refused(t, moveByHand({ id }).replace("'call'", "'worker'"), "23514", "journal_worker_has_task");
    await refused(t, moveByHand({ id }).replace("'call'", "'nobody'"), "23514", "journal_source_check");
  });
});
