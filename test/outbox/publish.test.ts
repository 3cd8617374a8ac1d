import { lifecycle } from "pawl";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStoreAndPooler, type Store } from "../support/each-store.ts";
import { rowCounts } from "../support/row-counts.ts";

const essay = lifecycle("essay", {
  data: z.object({ text: z.string() }),
  initial: "submitted",
  states: {
    submitted: {
      run: (step) => {
        step.publish("grading.request", { text: step.data.text });
        step.publish("audit.entry", { what: "requested" });
      },
      on: { requested: "grading" },
    },
    grading: { forever: true, on: { graded: "done" } },
    done: { final: "success" },
  },
});

interface Row {
  readonly aggregate_type: string;
  readonly aggregate_id: string;
  readonly message_type: string;
  readonly status: string;
  readonly version: number | null;
  readonly place: number | null;
}

function rowsOf(t: TestPawl): Promise<Row[]> {
  return t.db.rows<Row>(sql`
    select aggregate_type, aggregate_id, message_type, status, version, place from pawl.messages order by position`);
}

const about = { aggregate: { type: "submission", id: "42" } };

eachStoreAndPooler((store: Store) => {
  describe("what is published", () => {
    let t: TestPawl;
    beforeAll(async () => {
      t = await store.open({ lifecycles: [essay] });
      await t.db.script("create table public.submissions (id text primary key)");
    });
    afterAll(() => t.close());
    beforeEach(() => t.db.script("truncate public.submissions, pawl.messages, pawl.tasks"));

    test("R59 a business row and its outbox row commit together, or neither is there", async () => {
      const submit = (id: string, fails: boolean) =>
        t.pawl.transaction(async (tx) => {
          await tx.query("insert into submissions values ($1)", [id]);
          await t.pawl.publish("grading.request", { id }, { aggregate: { type: "submission", id }, tx });
          if (fails) throw new Error("The app died.");
        });
      await submit("1", false);
      await expect(submit("2", true)).rejects.toThrow("The app died.");
      const kept = await t.db.rows(sql`select id from public.submissions`);
      expect(kept).toEqual([{ id: "1" }]);
      expect(await rowsOf(t)).toEqual([
        {
          aggregate_type: "submission",
          aggregate_id: "1",
          message_type: "grading.request",
          status: "pending",
          version: null,
          place: null,
        },
      ]);
    });

    test("R59 what a step publishes commits with its move, or not at all", async () => {
      const { id } = await t.pawl.start(essay, { data: { text: "Once" } });
      const late = await t.claim("essay/submitted");
      await t.advance("31s");
      const worker = await t.claim("essay/submitted");
      await expect(late.run()).rejects.toMatchObject({ code: "lease_lost" });
      expect(await rowsOf(t)).toEqual([]);
      await worker.run();
      const common = { aggregate_type: "essay", aggregate_id: id, status: "pending", version: 2 };
      expect(await rowsOf(t)).toEqual([
        { ...common, message_type: "grading.request", place: 0 },
        { ...common, message_type: "audit.entry", place: 1 },
      ]);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    });

    test("a message of one's own without a transaction is there at once", async () => {
      const { id } = await t.pawl.publish("grading.request", { text: "x" }, about);
      expect(await t.pawl.outbox.messages()).toMatchObject([
        { id, type: "grading.request", aggregate: { type: "submission", id: "42" }, payload: { text: "x" } },
      ]);
    });

    test("positions rise within a move, from move to move and with one's own messages between", async () => {
      const { id } = await t.pawl.start(essay, { data: { text: "a" } });
      await t.work();
      await t.pawl.publish("audit.entry", { what: "by hand" }, { aggregate: { type: "essay", id } });
      await t.pawl.send(essay, { id }, "restart");
      await t.work();
      const types = (await rowsOf(t)).map((row) => row.message_type);
      const each = ["grading.request", "audit.entry"];
      expect(types).toEqual([...each, "audit.entry", ...each]);
    });

    const bad: readonly [what: string, call: (t: TestPawl) => Promise<unknown>][] = [
      ["no type", (t) => t.pawl.publish("", {}, about)],
      ["a type that cannot be stored", (t) => t.pawl.publish("a\u0000b", {}, about)],
      ["a payload that cannot be stored", (t) => t.pawl.publish("a", { x: Number.NaN }, about)],
      ["a payload over 1 MiB", (t) => t.pawl.publish("a", { x: "x".repeat(2 ** 20) }, about)],
      ["no options", (t) => t.pawl.publish("a", {}, undefined as never)],
      ["no aggregate", (t) => t.pawl.publish("a", {}, {} as never)],
      ["an aggregate without an id", (t) => t.pawl.publish("a", {}, { aggregate: { type: "x" } as never })],
      ["a misspelt option", (t) => t.pawl.publish("a", {}, { ...about, transaction: 1 } as never)],
      ["something that is no transaction", (t) => t.pawl.publish("a", {}, { ...about, tx: {} as never })],
    ];
    test(`what cannot be published is refused, and nothing is written: ${bad.map(([what]) => what).join("; ")}`, async () => {
      const before = await rowCounts(t);
      const code = expect.stringMatching(/^(option_invalid|value_not_serializable)$/);
      for (const [what, call] of bad) await expect(call(t), what).rejects.toMatchObject({ code });
      expect(await rowCounts(t)).toEqual(before);
    });

    test("a call without `tx` inside an embedded transaction is refused", async ({ skip }) => {
      if (store.kind !== "pglite") skip();
      const inside = t.pawl.transaction(() => t.pawl.publish("a", {}, about));
      await expect(inside).rejects.toMatchObject({ code: "transaction_required" });
    });
  });
});
