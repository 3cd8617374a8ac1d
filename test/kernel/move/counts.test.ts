import { expect, test } from "vitest";
import { rollUpCounts } from "../../../src/store/move/counts.ts";
import { sql } from "../../../src/store/port/db.ts";
import { eachStore } from "../../support/each-store.ts";
import { parcel } from "../../support/parcel.ts";

eachStore((store) => {
  test("counts stay right while their deltas are summed up, also by several at once", async () => {
    await using t = await store.open({ lifecycles: [parcel] });
    await t.pawl.start(parcel, { key: "p", data: { address: "Elm 3" } });
    await t.work();
    for (let turn = 0; turn < 5; turn++)
      await t.pawl.send(parcel, "p", "weighed", { weight: 1 }).then(() => t.pawl.send(parcel, "p", "returned"));
    const rows = async () => (await t.db.rows<{ n: number }>(sql`select count(*)::int as n from pawl.counts`))[0]!.n;
    expect(await rows()).toBeGreaterThan(10);
    const moving = Promise.all(Array.from({ length: 10 }, () => t.pawl.start(parcel, { data: { address: "x" } })));
    const summed = await Promise.all([1, 2, 3].map(() => rollUpCounts(t.db, 5, 1_000)));
    await moving;
    expect(summed.some((count) => count > 0)).toBe(true);
    await rollUpCounts(t.db, 1, 1_000);
    expect(await rows()).toBe(2);
    expect(await t.pawl.inspect.counts(parcel)).toEqual({ labeling: 10, packed: 1 });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });
});
