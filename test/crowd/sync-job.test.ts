import { expect, test } from "vitest";
import { eachStore } from "../support/each-store.ts";
import { openReceipts } from "../support/receipts.ts";

eachStore((store) => {
  test("what stands where is counted, and a job's submissions are found by their state", async () => {
    await using it = await openReceipts(store, { submissions: 3, autoApprove: false });
    const { crowd } = it.t.pawl;
    const [job, other] = [await it.ask("a"), await it.ask("b")];
    it.submit(job, { W1: 1, W2: 2, W3: 3 });
    it.submit(other, { W1: 1 });
    await it.look(job);
    await it.look(other);
    const oldest = (await crowd.submissions({ job }, { state: "pending_approval" })).at(-1);
    await crowd.reject(oldest!.id, { feedback: "It is another receipt." });
    await it.t.work();
    expect(await crowd.counts(it.receipts)).toEqual({
      jobs: { running: 2 },
      submissions: { pending_approval: 3, rejected: 1 },
    });
    // The page is filled with what is asked for, however much else lies before it.
    const [left] = await crowd.submissions({ job }, { state: "rejected", limit: 1 });
    expect(left).toMatchObject({ id: oldest!.id, state: "rejected" });
    expect(await crowd.submissions({ job }, { state: ["pending_approval", "rejected"] })).toHaveLength(3);
    await expect(crowd.submissions({ job }, { state: "pending" as "approved" })).rejects.toThrow(
      "State `pending` does not exist",
    );
  });
});
