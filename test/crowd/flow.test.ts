import { expect, test } from "vitest";
import { eachStore } from "../support/each-store.ts";
import { openReceipts } from "../support/receipts.ts";

eachStore((store) => {
  test("a state asks a crowd, and goes on with what its workers agree on", async () => {
    await using it = await openReceipts(store, { submissions: 3 });
    const { t, expense } = it;
    const { id } = await t.pawl.start(expense, { key: "e", data: { image: "a.png" } });
    await t.work();
    const [job] = await t.pawl.crowd.jobs(it.receipts);
    expect(job).toMatchObject({ state: "running", content: { image: "a.png" }, postings: [{ places: 3 }] });
    it.submit(job!.id, { W1: 12.5, W2: 12.5, W3: 11 });
    await it.look(job!.id);
    expect(await it.submissions(job!.id)).toEqual({ W1: "approved", W2: "approved", W3: "approved" });
    expect(await t.pawl.crowd.job(job!.id)).toMatchObject({
      state: "finished",
      consensus: { total: 12.5 },
      approved: 3,
      rejected: 0,
    });
    expect(await t.pawl.get(expense, "e")).toMatchObject({ state: "read", data: { total: 12.5 } });
    expect(await t.pawl.inspect.verify()).toEqual([]);
    expect((await t.pawl.journal(expense, { id })).map((move) => move.event)).toEqual(["start", "answered"]);
  });
});
