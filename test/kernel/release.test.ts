import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { eachStore } from "../support/each-store.ts";

const upload = lifecycle("upload", {
  data: z.object({ held: z.boolean().default(false) }),
  initial: "parked",
  states: {
    parked: {
      release: { every: "1m", atMost: 3, send: "index" },
      on: { index: { to: "indexed", guard: ({ data }) => !data.held || "it is held back" } },
    },
    indexed: { final: "success" },
  },
});

eachStore((store) => {
  test("a parked state is released in bulk, at its times, oldest first and so many at most", async () => {
    await using t = await store.open({ lifecycles: [upload] });
    const made = await t.pawl.startMany(
      upload,
      Array.from({ length: 7 }, () => ({ data: {} })),
    );
    await t.advance("1s");
    expect(await t.pawl.counts(upload)).toEqual({ parked: 4, indexed: 3 });
    const first = await t.pawl.find(upload, { state: "indexed" });
    expect(first.map((one) => one.id).sort()).toEqual(
      made
        .slice(0, 3)
        .map((one) => one.id)
        .sort(),
    );
    await t.advance("58s");
    expect(await t.pawl.counts(upload)).toEqual({ parked: 4, indexed: 3 });
    await t.advance("1s");
    expect(await t.pawl.counts(upload)).toEqual({ parked: 1, indexed: 6 });
    await t.advance("10m");
    expect(await t.pawl.counts(upload)).toEqual({ indexed: 7 });
    expect((await t.pawl.journal(upload, { id: made[0]!.id })).at(-1)).toMatchObject({
      event: "index",
      source: "timer",
      reason: "release",
    });
  });

  test("those that may not go hold up nobody behind them", async () => {
    await using t = await store.open({ lifecycles: [upload] });
    await t.pawl.startMany(
      upload,
      Array.from({ length: 5 }, () => ({ data: { held: true } })),
    );
    await t.pawl.startMany(upload, [{ data: {} }, { data: {} }]);
    await t.advance("1s");
    expect(await t.pawl.counts(upload)).toEqual({ parked: 5, indexed: 2 });
  });

  test("of many rounds at the same moment, one releases", async () => {
    await using t = await store.open({ lifecycles: [upload] });
    await t.pawl.startMany(
      upload,
      Array.from({ length: 9 }, () => ({ data: {} })),
    );
    const rounds = await Promise.all(Array.from({ length: 5 }, () => t.maintain()));
    expect(rounds.map((one) => one.released).sort()).toEqual([0, 0, 0, 0, 3]);
  });
});
