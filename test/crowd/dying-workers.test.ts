import { PawlError, RejectSubmission } from "pawl";
import { expect, test } from "vitest";
import { eachStore } from "../support/each-store.ts";
import { openReceipts, type Receipts } from "../support/receipts.ts";

const lanes = ["crowd/publishing", "crowd/syncing", "crowd/extending", "submission/submitted", "submission/approving"];
const more = ["submission/rejecting", "disposal/disposing", "bonus/paying"];

/** Of every step the first worker dies when all is done and nobody knows of it; another does it again. */
async function workTwice(it: Receipts): Promise<string[]> {
  const died: string[] = [];
  for (let isIdle = false; !isIdle; ) {
    isIdle = true;
    for (const place of [...lanes, ...more]) {
      const lane = `pawl_${place.replace("/", "_receipts/")}`;
      const victim = await it.t.claim(lane).catch(() => undefined);
      if (victim === undefined) continue;
      isIdle = false;
      const gone = new PawlError("database_unreachable", "It died.");
      it.t.faults.plant("report.before", () => Promise.reject(gone));
      await expect(victim.run()).rejects.toBe(gone);
      died.push(place);
      await it.t.advance("31s");
      await (await it.t.claim(lane)).run();
    }
    await it.t.maintain(); // What was sent arrives.
    await deliver(it);
  }
  return died;
}

/** Letters and after-effects, which are not what is tried here. */
async function deliver({ t }: Receipts): Promise<void> {
  for (const lane of ["pawl_crowd_receipts:send", "pawl_submission_receipts:after", "pawl_crowd_receipts:after"]) {
    for (;;) {
      const task = await t.claim(lane).catch(() => undefined);
      if (task === undefined) break;
      await task.run();
    }
  }
}

eachStore((store) => {
  test("R36 workers that die when a step is done and not reported cost time, and nothing is published, decided or paid twice", async () => {
    await using it = await openReceipts(store, {
      submissions: 2,
      disposeAfter: "1h",
      onSubmitted({ label }) {
        if (label.total < 0) throw new RejectSubmission("no");
      },
    });
    const { id } = await it.t.pawl.crowd.ask(it.receipts, { content: {} });
    const died = await workTwice(it);
    it.submit(id, { W1: 4, W2: -4 });
    await it.t.pawl.crowd.sync(id);
    died.push(...(await workTwice(it)));
    it.submit(id, { W3: 4 });
    await it.t.pawl.crowd.sync(id);
    died.push(...(await workTwice(it)));
    const submissions = await it.t.pawl.crowd.submissions({ job: id });
    await it.t.pawl.crowd.bonus(submissions[0]!.id, { amount: "1", reason: "well done" });
    died.push(...(await workTwice(it)));
    expect(await it.t.pawl.crowd.job(id)).toMatchObject({ state: "finished", approved: 2, rejected: 1 });
    expect(it.market.workers.jobsOf(id)).toMatchObject([{ places: 3 }]);
    expect(submissions).toHaveLength(3);
    expect(submissions.map((one) => one.conflict)).toEqual([null, null, null]);
    expect(it.market.bonuses).toHaveLength(1);
    await it.t.advance("2h");
    died.push(...(await workTwice(it)));
    expect(it.market.workers.jobsOf(id)).toEqual([]);
    expect(new Set(died)).toEqual(new Set([...lanes, ...more]));
    expect(await it.t.pawl.inspect.verify()).toEqual([]);
  });
});
