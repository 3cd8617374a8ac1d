import { type JobsOptions, job, PermanentError } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { eachStoreAndPooler } from "../../support/each-store.ts";

const sent: string[] = [];
const outcome: { fails: number } = { fails: 0 };

const email = job("send-email", {
  payload: z.object({ to: z.string(), tries: z.number().default(1) }),
  retry: { maxAttempts: 2, backoff: () => 1_000 },
  run: async (step) => {
    sent.push(`${step.payload.to} ${step.attempt}`);
    if (outcome.fails-- > 0) throw new Error("the server is down");
  },
});
const sweep = job("sweep", { run: () => {} });

eachStoreAndPooler((store) => {
  async function open() {
    sent.length = 0;
    outcome.fails = 0;
    return store.open({ lifecycles: [email, sweep] });
  }

  test("a job is enqueued, run and done, and its status can be asked at each moment", async () => {
    await using t = await open();
    const queued = await t.pawl.enqueue(email, { to: "ada" }, { key: "welcome" });
    expect(queued).toMatchObject({ created: true, state: "pending" });
    expect(await t.pawl.jobs.get(email, "welcome")).toMatchObject({ status: "pending", attempt: 0 });
    const worker = await t.claim("send-email/pending");
    expect(await t.pawl.jobs.get(email, "welcome")).toMatchObject({ status: "running", attempt: 1 });
    await worker.run();
    expect(await t.pawl.jobs.get(email, "welcome")).toMatchObject({ status: "done", endedAt: t.now() });
    expect(sent).toEqual(["ada 1"]);
    await t.pawl.enqueue(sweep);
    expect(await t.work()).toBe(1);
  });

  test("a job that fails is retried, ends in error with a dead letter, and can be restarted by a person", async () => {
    await using t = await open();
    outcome.fails = 2;
    await t.pawl.enqueue(email, { to: "ada" }, { key: "k" });
    await t.work();
    await t.advance("1s");
    await t.work();
    expect(await t.pawl.jobs.get(email, "k")).toMatchObject({ status: "error" });
    expect(await t.pawl.deadLetters.list({ lifecycle: email })).toMatchObject([
      { origin: "pending", attempts: 2, error: { message: "the server is down" } },
    ]);
    await t.pawl.send(email, "k", "restart", { actor: "grace" });
    await t.work();
    expect(await t.pawl.jobs.get(email, "k")).toMatchObject({ status: "done" });
  });

  test("hooks of its end run once, with the failure, again after a restart, and their failure is not the job's", async () => {
    const said: string[] = [];
    let works = false;
    let mayNotify = false;
    const told = job("told", {
      run: () => {
        if (!works) throw new PermanentError("no network");
      },
      on: {
        done: { after: () => void said.push("done") },
        fail: {
          before: ({ tx, id, payload }) => tx.query("insert into public.told values ($1, $2)", [id, payload.reason]),
          after: ({ payload }) => {
            said.push(`${payload.reason}: ${payload.error?.message}`);
            if (!mayNotify) throw new PermanentError("no pager");
          },
        },
      },
    });
    await using t = await store.open({ lifecycles: [told] });
    await t.db.script("create table if not exists public.told (id uuid, reason text)");
    const { id } = await t.pawl.enqueue(told, {});
    await t.work();
    expect((await t.pawl.get(told, { id }))!.state).toBe("error");
    expect(said).toEqual(["permanent_error: no network"]);
    const rows = await t.pawl.transaction((tx) => tx.query("select id::text, reason from public.told"));
    expect(rows.rows).toEqual([{ id, reason: "permanent_error" }]);
    [works, mayNotify] = [true, true];
    await t.pawl.send(told, { id }, "restart");
    await t.work();
    expect((await t.pawl.get(told, { id }))!.state).toBe("done");
    expect(said.at(-1)).toBe("done");
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a job's key is unique while the job is open, and free afterwards", async () => {
    await using t = await open();
    const first = await t.pawl.enqueue(email, { to: "ada" }, { key: "k" });
    expect(await t.pawl.enqueue(email, { to: "bob" }, { key: "k" })).toMatchObject({ created: false, id: first.id });
    await t.work();
    const second = await t.pawl.enqueue(email, { to: "bob" }, { key: "k" });
    expect(second).toMatchObject({ created: true });
    expect(second.id).not.toBe(first.id);
    expect(await t.pawl.get(email, "k")).toMatchObject({ id: second.id });
    await t.work();
    expect(sent).toEqual(["ada 1", "bob 1"]);
    expect(await t.pawl.get(email, "k")).toMatchObject({ id: second.id, state: "done" });
  });

  test("a job waits for its time, and a lower priority number runs sooner", async () => {
    await using t = await open();
    await t.pawl.enqueueMany(email, [
      { payload: { to: "later" }, after: "10m" },
      { payload: { to: "plain" } },
      { payload: { to: "urgent" }, priority: -1 },
      { payload: { to: "at" }, at: new Date(t.now().getTime() + 60_000) },
    ]);
    await (await t.claim("send-email/pending")).run();
    expect(sent).toEqual(["urgent 1"]);
    await t.work();
    expect(sent).toEqual(["urgent 1", "plain 1"]);
    await t.advance("1m");
    await t.work();
    await t.advance("9m");
    await t.work();
    expect(sent).toEqual(["urgent 1", "plain 1", "at 1", "later 1"]);
  });

  test("jobs are listed by status, newest first, page by page", async () => {
    await using t = await open();
    const made = await t.pawl.enqueueMany(
      email,
      ["done", "running", "pending", "later"].map((key) => ({
        payload: { to: key },
        key,
        ...(key === "later" && { after: "1h" }),
      })),
    );
    const swept = await t.pawl.enqueue(sweep);
    const ids = made.map(({ id }) => id);
    await (await t.claim("send-email/pending")).run();
    await t.claim("send-email/pending");
    const keys = async (options: JobsOptions) => (await t.pawl.jobs.list(options)).map((one) => one.key);
    expect(await keys({ job: email })).toEqual(["later", "pending", "running", "done"]);
    expect(await keys({ status: "pending" })).toEqual([null, "later", "pending"]);
    expect(await keys({ job: email, status: "running" })).toEqual(["running"]);
    expect(await keys({ status: "done" })).toEqual(["done"]);
    expect(await keys({ status: "error" })).toEqual([]);
    expect(await keys({ status: "pending", limit: 1, after: { id: swept.id } })).toEqual(["later"]);
    expect(await keys({ job: email, status: "pending", limit: 1, after: { id: ids[3]! } })).toEqual(["pending"]);
    expect(await keys({ status: "running", after: { id: ids[1]! } })).toEqual([]);
    expect((await t.pawl.jobs.list({ job: email }))[0]).toEqual({
      id: ids[3],
      key: "later",
      job: "send-email",
      status: "pending",
      attempt: 0,
      enqueuedAt: t.now(),
      runsAt: new Date(t.now().getTime() + 3_600_000),
      endedAt: null,
    });
    const invalid = { code: "option_invalid" };
    await expect(t.pawl.jobs.list({ status: "open" as never })).rejects.toMatchObject(invalid);
    await expect(t.pawl.jobs.list({ limit: 0 })).rejects.toMatchObject(invalid);
  });

  test("a job is enqueued in the caller's own transaction, or not at all", async () => {
    await using t = await open();
    const undone = t.pawl.transaction(async (tx) => {
      await t.pawl.enqueue(email, { to: "ada" }, { tx });
      throw new Error("no");
    });
    await expect(undone).rejects.toThrow("no");
    expect(await t.work()).toBe(0);
  });

  test("bad jobs are refused with what to do", async () => {
    await using t = await open();
    await expect(t.pawl.enqueue(email, { to: 7 } as never)).rejects.toMatchObject({ code: "data_invalid" });
    await expect(t.pawl.enqueue(email, { to: "a" }, { priority: 1.5 })).rejects.toMatchObject({
      code: "option_invalid",
    });
    await expect(t.pawl.enqueue(email, { to: "a" }, { after: "soon" as never })).rejects.toMatchObject({
      code: "option_invalid",
    });
    expect(await t.pawl.inspect.counts(email)).toEqual({});
  });
});
