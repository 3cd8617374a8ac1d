import { describe, expect, test } from "vitest";
import { noRows, type Rows } from "../../src/kernel/commit/rows.ts";
import { assignmentCompanions } from "../../src/people/lifecycle/assignment-companions.ts";
import { sampleCompanions } from "../../src/people/lifecycle/sample-companions.ts";
import { type MovedInstance, moveInstances } from "../../src/store/move/move-instances.ts";
import { insertInstances, type NewInstance } from "../../src/store/move/start-instances.ts";
import type { Executor, Statement } from "../../src/store/port/db.ts";
import { newPostgresStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";

const move = { event: "next", source: "worker", cleared: null } as const;
const step = { lane: "order@1/paid", priority: 0, afterMs: null, atMs: null, grant: null };
const moved = { id: "i", move, timedOut: false, settledCallbacks: 0 } as unknown as MovedInstance;
const born = { id: "i", parent: null, step, move } as unknown as NewInstance;

/** The tables that something may come for with a move. */
const tables = Object.keys(noRows()) as (keyof Rows)[];

/** Rows of these tables, one each: which columns they have does not matter here. */
function rowsOf(some: readonly (keyof Rows)[]): Rows {
  return Object.assign(noRows(), Object.fromEntries(some.map((name) => [name, [{ cleared: null }]])));
}

/** Every set of tables. */
const sets = Array.from({ length: 2 ** tables.length }, (_, set) =>
  tables.filter((_name, index) => (set >> index) & 1),
);

/** All texts that these calls run, by the name of their statement. */
async function textsOf(calls: (db: Executor) => AsyncIterable<unknown>): Promise<string[]> {
  const texts = new Map<string, string>();
  const db: Executor = {
    rows: async ({ name, text }: Statement) => {
      texts.set(name, text);
      return [{ many: 0 }] as never;
    },
  };
  for await (const _ of calls(db));
  return [...texts.values()];
}

const decision = {
  to: "open",
  event: "x",
  from: null,
  payload: {},
  instance: { id: "i", data: { terms: {} }, parent: null },
};

/** Whatever comes with what moves, alone and in every combination. */
async function* everyMove(db: Executor) {
  const reported = { ...moved, token: 1 };
  const called = { ...moved, token: null };
  for (const rows of [[reported], [called], [reported, called]]) {
    for (const set of sets) {
      const related = rowsOf(set);
      yield await moveInstances(db, rows, { earlier: related.earlier, related, companion: undefined });
      for (const companion of [sampleCompanions, assignmentCompanions].map((one) => one.moving([[decision as never]])))
        yield await moveInstances(db, rows, { earlier: related.earlier, related, companion });
    }
  }
}

async function* everyStart(db: Executor) {
  for (const set of sets) {
    const related = rowsOf(set);
    yield await insertInstances(db, [born], { related, companion: undefined });
    for (const companion of [sampleCompanions, assignmentCompanions].map((one) => one.starting([decision as never])))
      yield await insertInstances(db, [born], { related, companion });
  }
}

describe("moves and starts are a few whole statements", async () => {
  const moves = await textsOf(everyMove);
  const starts = await textsOf(everyStart);

  test("whatever comes with them, in whichever combination", () => {
    expect(moves).toHaveLength(6);
    expect(starts).toHaveLength(5);
  });

  onPostgres("on PostgreSQL", () => {
    test("each can be pasted into psql", async () => {
      const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
      try {
        for (const [index, text] of [...moves, ...starts].entries())
          await store.db.script(`prepare statement_${index} as ${text}`);
      } finally {
        await store.dispose();
      }
    });
  });
});
