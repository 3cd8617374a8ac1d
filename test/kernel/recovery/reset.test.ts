import { constant, type Effect, lifecycle, PawlError } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore, type Store } from "../../support/each-store.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };

/** A recovery that has something to do before it: `reset` is what it calls. */
function resetting(reset: (work: Effect<{ n: number }>) => unknown) {
  return lifecycle("batch", {
    data: z.object({ n: z.number().default(0) }),
    initial: "loading",
    recovery: {
      maxFailures: 2,
      after: "10m",
      reset: { before: "loaded", run: reset, retry: { maxAttempts: 3, backoff: constant("1m") } },
    },
    states: {
      loading: { run: async () => {}, retry: once, on: { load: "loaded" } },
      loaded: { run: async () => {}, retry: once, on: { use: "used" } },
      used: { final: "success" },
    },
  });
}

async function failed(store: Store, reset: (work: Effect<{ n: number }>) => unknown) {
  const batch = resetting(reset);
  const t = await store.open({ lifecycles: [batch] });
  await t.pawl.start(batch, { key: "b", data: {} });
  await (await t.claim("batch/loading")).fail(new Error("disk full"));
  return { t, batch, state: async () => (await t.pawl.get(batch, "b"))!.state };
}

/** Runs the recovery as often as its attempts go. */
async function runOut(t: TestPawl): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await t.work();
    await t.advance("1m");
  }
}

eachStore((store) => {
  test("a reset runs outside any transaction, before its recovery, and what it says commits with that", async () => {
    const seen: string[] = [];
    const { t, batch, state } = await failed(store, async (work) => {
      seen.push(`${work.idempotencyKey}, attempt ${work.attempt}`, await work.once("swept", () => "swept"));
      await t.pawl.start(batch, { key: "inside", data: {} }); // would wait for ever if a transaction were open
      await t.pawl.send(batch, "inside", "discard");
      work.publish("batch.reset", { n: work.data.n });
    });
    await using _ = t;
    await t.advance("10m");
    await (await t.claim("batch/failed")).run();
    expect(await state()).toBe("loading");
    const { id } = (await t.pawl.get(batch, "b"))!;
    expect(seen).toEqual([`${id}:failed:2, attempt 1`, "swept"]);
    const messages = await t.db.rows({ text: "select message_type, version from pawl.messages", values: [], name: "" });
    expect(messages).toEqual([{ message_type: "batch.reset", version: 3 }]);
    await (await t.claim("batch/loading")).report("load");
    await (await t.claim("batch/loaded")).fail(new Error("no"));
    expect(await t.pawl.deadLetters.list({ lifecycle: batch })).toHaveLength(1);
    await t.pawl.send(batch, "b", "recover");
    expect(await state()).toBe("loaded"); // It resumes behind what would be reset.
    expect(seen).toHaveLength(2);
  });

  test("a reset that fails is tried again by its own policy, and at the last the instance stays failed with a dead letter", async () => {
    let tries = 0;
    const { t, batch, state } = await failed(store, () => {
      tries += 1;
      throw new Error(`the sweeper is out (${tries})`);
    });
    await using _ = t;
    await t.advance("10m");
    await runOut(t);
    expect(tries).toBe(3);
    expect(await state()).toBe("failed");
    expect(await t.pawl.deadLetters.list({ lifecycle: batch })).toMatchObject([
      { kind: "instance", origin: "loading", attempts: 3, error: { message: "the sweeper is out (3)" } },
    ]);
    expect(await t.pawl.journal(batch, "b")).toHaveLength(2);
    expect(await t.pawl.inspect.verify()).toEqual([]);

    const asked = await t.pawl.send(batch, "b", "recover", { actor: "ada", reason: "the sweeper is back" });
    expect(asked).toMatchObject({ state: "failed", version: 2 });
    await runOut(t);
    expect(tries).toBe(6);
    expect(await t.pawl.deadLetters.list({ lifecycle: batch })).toMatchObject([
      { error: { message: "the sweeper is out (6)" } },
    ]);
    expect(await t.pawl.deadLetters.list({ lifecycle: batch, status: "requeued" })).toMatchObject([
      { decidedBy: "ada" },
    ]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a person's recovery with a reset falls due at once, and is made in that person's name", async () => {
    let tries = 0;
    const { t, batch, state } = await failed(store, () => {
      tries += 1;
    });
    await using _ = t;
    const options = { actor: "ada", reason: "now, please", idempotencyKey: "once" };
    await t.pawl.send(batch, "b", "recover", options);
    await t.pawl.send(batch, "b", "recover", options);
    expect(await state()).toBe("failed");
    await (await t.claim("batch/failed")).run();
    expect(tries).toBe(1);
    const history = await t.pawl.history(batch, "b");
    expect(history.filter((one) => one.kind === "attempt" && one.what === "asked")).toMatchObject([
      { detail: { event: "recover", actor: "ada" } },
    ]);
    expect((await t.pawl.journal(batch, "b")).at(-1)).toMatchObject({
      event: "recover",
      actor: "ada",
      reason: "now, please",
    });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a reset can put itself off, and can give up", async () => {
    const outcomes = ["later", "never"];
    const { t, batch, state } = await failed(store, (work) =>
      outcomes.shift() === "later" ? work.retryLater({ after: "5m" }) : work.giveUp("there is nothing to sweep"),
    );
    await using _ = t;
    await t.advance("10m");
    await t.work();
    await t.advance("4m");
    expect(await t.work()).toBe(0);
    await t.advance("1m");
    await t.work();
    expect(await state()).toBe("failed");
    expect(await t.pawl.deadLetters.list({ lifecycle: batch })).toMatchObject([
      { reason: "there is nothing to sweep", attempts: 1 },
    ]);
  });

  test("a worker that dies over a reset loses its lease, and another one does it", async () => {
    let tries = 0;
    const { t, state } = await failed(store, () => {
      tries += 1;
    });
    await using _ = t;
    await t.advance("10m");
    const lost = await t.claim("batch/failed");
    await t.advance("31s");
    await (await t.claim("batch/failed")).run();
    await expect(lost.run()).rejects.toMatchObject({ code: "lease_lost" });
    expect(await state()).toBe("loading");
    expect(tries).toBe(2);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a recovery whose asking got no reply is asked for once", async () => {
    const { t, batch } = await failed(store, () => {});
    await using _ = t;
    t.faults.plant("commit.after", () => {
      throw new PawlError("outcome_unknown", "The reply was lost.");
    });
    await t.pawl.send(batch, "b", "recover", { actor: "ada" });
    const history = await t.pawl.history(batch, "b");
    expect(history.filter((one) => one.kind === "attempt" && one.what === "asked")).toHaveLength(1);
    await t.work();
    expect(await t.pawl.get(batch, "b")).toMatchObject({ state: "used" });
  });
});
