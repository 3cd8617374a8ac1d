import { constant, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { findStuck } from "../../src/inspect/stuck/find-stuck.ts";
import { eachStore } from "../support/each-store.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };

const parcel = lifecycle("parcel", {
  initial: "open",
  states: {
    open: {
      forever: true,
      on: {
        work: "working",
        close: {
          to: "closed",
          after: () => {
            throw new Error("nothing listens");
          },
        },
      },
    },
    working: { run: () => {}, retry: once, on: { worked: "closed" } },
    closed: { final: "success" },
  },
});

const odd = lifecycle("odd", {
  initial: "a",
  states: { a: { run: (step) => step.go("y" as "x"), retry: once, on: { x: "b" } }, b: { final: "success" } },
});

/** Reads as few rows as possible, so that a few instances are what thousands are to a real one. */
const small = { counted: 3, listed: 3 };

eachStore((store) => {
  test("dead letters of after-effects, however many and however old, hide no failed instance", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    for (let number = 0; number < 20; number++) {
      const { id } = await t.pawl.start(parcel, {});
      await t.pawl.send(parcel, { id }, "close");
    }
    for (let round = 0; round < 20; round++) {
      await t.work();
      await t.advance("1d");
    }
    expect(await t.pawl.deadLetters.list({ limit: 100 })).toHaveLength(20);
    await t.pawl.start(parcel, { key: "failed" });
    await t.pawl.send(parcel, "failed", "work");
    await (await t.claim("parcel/working")).fail(new Error("jammed"));
    expect(await findStuck(t.kernel, small)).toMatchObject([{ reason: "dead_letter", state: "failed", count: 1 }]);
  });

  test("steps that contradicted their definition once hide none that does so now", async () => {
    await using t = await store.open({ lifecycles: [odd] });
    for (const key of ["now", "p1", "p2", "p3", "p4"]) {
      await t.pawl.start(odd, { key });
      await t.work();
      await t.advance("1s");
    }
    for (const key of ["p1", "p2", "p3", "p4"]) await t.pawl.send(odd, key, "discard");
    expect(await findStuck(t.kernel, small)).toMatchObject([{ reason: "definition_fault", count: 1 }]);
  });
});
