import { constant, job, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { openSecondProcess } from "../../support/second-process.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };

const order = lifecycle("order", {
  data: z.object({ address: z.string(), pieces: z.number().optional() }),
  initial: "packing",
  states: {
    packing: {
      run: async () => {},
      retry: once,
      on: {
        packed: { to: "sending", after: () => mail() },
        fail: [
          { to: "reviewing", deadLetter: true, guard: ({ payload }) => payload.reason === "doubt" || "no doubt" },
          { to: "stuck", deadLetter: true, guard: ({ payload }) => payload.reason === "stuck" || "not stuck" },
        ],
      },
    },
    sending: { run: async () => {}, retry: once, on: { sent: "sent" }, checkpoint: "packing" },
    reviewing: { forever: true, on: { approve: "sending" } },
    stuck: { forever: true, on: { retry: "packing", skip: "sending" } },
    sent: { final: "success" },
  },
});
const email = job("email", { payload: z.object({ to: z.string() }), run: () => {}, retry: once });
let mail: () => void = () => {};

/** A step with a backup: the dead letter tells of the first way, and the backup may still do it. */
const speech = lifecycle("speech", {
  initial: "recognizing",
  states: {
    recognizing: {
      run: async () => {},
      retry: once,
      on: { recognized: "done", fail: { to: "backup", deadLetter: true } },
    },
    backup: { run: async () => {}, retry: once, on: { recognized: "done" } },
    done: { final: "success" },
  },
});

eachStore((store) => {
  test("a backup that succeeds decides the letter and the ticket of what failed before it", async () => {
    await using t = await store.open({ lifecycles: [speech] });
    await t.pawl.start(speech, { key: "s" });
    await (await t.claim("speech/recognizing")).fail(new Error("no sound"));
    const [letter, ...others] = await t.pawl.deadLetters.list({ lifecycle: speech });
    expect(others).toEqual([]);
    expect(await t.pawl.deadLetters.tickets.list()).toHaveLength(1);
    await t.work();
    expect(await t.pawl.get(speech, "s")).toMatchObject({ state: "done", outcome: "success" });
    expect(await t.pawl.deadLetters.get(letter!.id)).toMatchObject({ status: "requeued" });
    expect(await t.pawl.deadLetters.tickets.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an instance has one open letter: that of its last failure", async () => {
    await using t = await store.open({ lifecycles: [speech] });
    await t.pawl.start(speech, { key: "s" });
    await (await t.claim("speech/recognizing")).fail(new Error("no sound"));
    const [first] = await t.pawl.deadLetters.list({ lifecycle: speech });
    await (await t.claim("speech/backup")).fail(new Error("no backup"));
    const open = await t.pawl.deadLetters.list({ lifecycle: speech });
    expect(open).toMatchObject([{ origin: "backup", error: { message: "no backup" } }]);
    expect(await t.pawl.deadLetters.get(first!.id)).toMatchObject({
      status: "discarded",
      decision: `superseded by dead letter ${open[0]!.id}`,
    });
    expect(await t.pawl.inspect.verify()).toEqual([]);
    await t.pawl.deadLetters.requeue(open[0]!.id);
    await t.work();
    expect(await t.pawl.deadLetters.list({ lifecycle: speech })).toEqual([]);
  });

  async function given(): Promise<TestPawl> {
    const t = await store.open({ lifecycles: [order, email] });
    await t.pawl.start(order, { key: "o", data: { address: "Elm 3" } });
    return t;
  }
  const giveUp = async (t: TestPawl) => {
    await (await t.claim("order/packing")).fail(new Error("no box"));
    return (await t.pawl.deadLetters.list({ lifecycle: order }))[0]!;
  };

  test("a state that takes `retry` is tried again by a requeue of the letter that led there, and whoever leads out decides it", async () => {
    await using t = await given();
    const stick = async () => {
      await (await t.claim("order/packing")).giveUp("stuck");
      return (await t.pawl.deadLetters.list({ lifecycle: order }))[0]!;
    };
    const first = await stick();
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "stuck" });
    await t.pawl.deadLetters.requeue(first.id, { actor: "ada" });
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "packing" });
    const second = await stick();
    await t.pawl.send(order, "o", "skip", { actor: "bob", reason: "by hand" });
    expect(await t.pawl.deadLetters.get(first.id)).toMatchObject({ status: "requeued", decidedBy: "ada" });
    expect(await t.pawl.deadLetters.get(second.id)).toMatchObject({
      status: "requeued",
      decidedBy: "bob",
      decision: "by hand",
    });
    await expect(t.pawl.deadLetters.requeue(second.id)).rejects.toMatchObject({ code: expect.any(String) });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a dead letter tells what was given up and why, and is found by its id also after it was decided", async () => {
    await using t = await given();
    const letter = await giveUp(t);
    expect(letter).toMatchObject({
      kind: "instance",
      key: "o",
      origin: "packing",
      reason: "attempts_used_up",
      error: { name: "Error", message: "no box" },
      attempts: 1,
      status: "open",
      decidedAt: null,
    });
    expect(await t.pawl.deadLetters.get(letter.id)).toEqual(letter);
    await t.pawl.deadLetters.discard(letter.id, { actor: "ada", reason: "ordered twice" });
    expect(await t.pawl.deadLetters.get(letter.id)).toMatchObject({
      status: "discarded",
      decidedAt: t.now(),
      decidedBy: "ada",
      decision: "ordered twice",
    });
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "failed" }); // The instance stays where it is.
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(await t.pawl.deadLetters.list({ lifecycle: order, status: "discarded" })).toMatchObject([{ id: letter.id }]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a failed instance that is requeued recovers, in the name of who wants it and with the data as they change it", async () => {
    await using t = await given();
    const letter = await giveUp(t);
    const requeued = await t.pawl.deadLetters.requeue(letter.id, {
      data: { address: "Oak 5" },
      actor: "ada",
      reason: "moved house",
    });
    expect(requeued).toMatchObject({ status: "requeued", decidedBy: "ada", decision: "moved house" });
    expect((await t.pawl.journal(order, "o")).at(-1)).toMatchObject({
      event: "recover",
      to: "packing",
      actor: "ada",
      patch: { address: "Oak 5" },
    });
    expect(await t.pawl.get(order, "o")).toMatchObject({ data: { address: "Oak 5" } });
    await expect(t.pawl.deadLetters.requeue(letter.id)).rejects.toMatchObject({ code: "dead_letter_decided" });
    await expect(t.pawl.deadLetters.discard(letter.id)).rejects.toMatchObject({ code: "dead_letter_decided" });
  });

  test("it can begin anew instead, and a job that ended in error does", async () => {
    await using t = await given();
    await (await t.claim("order/packing")).report("packed");
    await (await t.claim("order/sending")).fail(new Error("no truck"));
    const [letter] = await t.pawl.deadLetters.list({ lifecycle: order });
    await t.pawl.deadLetters.requeue(letter!.id, { restart: true });
    expect((await t.pawl.journal(order, "o")).at(-1)).toMatchObject({ event: "restart", to: "packing" });
    await t.pawl.enqueue(email, { to: "ada" }, { key: "e" });
    await (await t.claim("email/pending")).fail(new Error("no network"));
    const [unsent] = await t.pawl.deadLetters.list({ lifecycle: email });
    expect(unsent).toMatchObject({ kind: "instance", origin: "pending" });
    await t.pawl.deadLetters.requeue(unsent!.id, { actor: "ada" });
    expect(await t.pawl.jobs.get(email, "e")).toMatchObject({ status: "pending" });
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an after-effect that is requeued is carried out once more, with its own key and what it had kept", async () => {
    await using t = await given();
    let calls = 0;
    mail = () => {
      calls += 1;
      throw new Error("the post office is shut");
    };
    await (await t.claim("order/packing")).report("packed");
    const effect = await t.claim("order:after");
    await effect.giveUp("no stamps");
    const [letter] = await t.pawl.deadLetters.list({ lifecycle: order });
    expect(letter).toMatchObject({ kind: "effect", origin: "packed", reason: "no stamps" });
    await expect(t.pawl.deadLetters.requeue(letter!.id, { restart: true })).rejects.toMatchObject({
      code: "option_invalid",
    });
    mail = () => {
      calls += 1;
    };
    expect(await t.pawl.deadLetters.requeue(letter!.id, { actor: "ada", reason: "stamps came" })).toMatchObject({
      status: "requeued",
      decidedBy: "ada",
    });
    await (await t.claim("order:after")).run();
    expect(calls).toBe(1);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("what an edge left for a person is not requeued where its instance went, and is decided when that goes on", async () => {
    await using t = await given();
    await (await t.claim("order/packing")).giveUp("doubt");
    const [letter] = await t.pawl.deadLetters.list({ lifecycle: order });
    expect(letter).toMatchObject({ origin: "packing", reason: "doubt" });
    await expect(t.pawl.deadLetters.requeue(letter!.id)).rejects.toMatchObject({
      code: "transition_refused",
      message: expect.stringContaining("has moved from `packing` to `reviewing`"),
    });
    await t.pawl.send(order, "o", "approve", { actor: "ada" });
    expect(await t.pawl.deadLetters.get(letter!.id)).toMatchObject({ status: "requeued", decidedBy: "ada" });
    expect(await t.pawl.deadLetters.list()).toEqual([]);
  });

  test("a requeue is part of the caller's own transaction, with the letter", async () => {
    await using t = await given();
    const letter = await giveUp(t);
    const undone = t.pawl.transaction(async (tx) => {
      await t.pawl.deadLetters.requeue(letter.id, { tx });
      throw new Error("on second thoughts");
    });
    await expect(undone).rejects.toThrow("on second thoughts");
    expect(await t.pawl.deadLetters.get(letter.id)).toMatchObject({ status: "open" });
    await t.pawl.transaction((tx) => t.pawl.deadLetters.requeue(letter.id, { tx }));
    expect(await t.pawl.deadLetters.get(letter.id)).toMatchObject({ status: "requeued" });
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "packing" });
  });

  test("of two who decide at once, one does", async () => {
    await using t = await given();
    const letter = await giveUp(t);
    const results = await Promise.allSettled([
      t.pawl.deadLetters.requeue(letter.id),
      t.pawl.deadLetters.requeue(letter.id),
    ]);
    expect(results.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    expect(await t.pawl.journal(order, "o")).toHaveLength(3);
  });

  test("a requeue goes by the newest definition, to a state that has another name there", async () => {
    await using t = await given();
    await (await t.claim("order/packing")).report("packed");
    await (await t.claim("order/sending")).fail(new Error("no truck"));
    const newer = lifecycle("order", {
      version: 2,
      data: z.object({ address: z.string(), pieces: z.number().optional() }),
      initial: "boxing",
      renamed: { packing: "boxing", sending: "shipping" },
      states: {
        boxing: { run: async () => {}, retry: once, on: { packed: "shipping" } },
        shipping: { run: async () => {}, retry: once, on: { sent: "sent" }, checkpoint: "boxing" },
        sent: { final: "success" },
      },
    });
    await using next = await openSecondProcess(t, [newer]);
    const [letter] = await next.pawl.deadLetters.list({ lifecycle: newer });
    await next.pawl.deadLetters.requeue(letter!.id);
    expect(await next.pawl.get(newer, "o")).toMatchObject({ state: "boxing", definition: 2 });
    await next.work();
    expect(await next.pawl.get(newer, "o")).toMatchObject({ state: "sent" });
    expect(await next.pawl.inspect.verify()).toEqual([]);
  });

  test("bad input is refused, and nothing is changed", async () => {
    await using t = await given();
    const letter = await giveUp(t);
    const refusals: [() => Promise<unknown>, string][] = [
      [() => t.pawl.deadLetters.requeue("o"), "option_invalid"],
      [() => t.pawl.deadLetters.get("o"), "option_invalid"],
      [() => t.pawl.deadLetters.requeue("00000000-0000-7000-8000-000000000000"), "dead_letter_unknown"],
      [() => t.pawl.deadLetters.discard("00000000-0000-7000-8000-000000000000"), "dead_letter_unknown"],
      [() => t.pawl.deadLetters.requeue(letter.id, { data: { address: 7 } }), "data_invalid"],
      [() => t.pawl.deadLetters.requeue(letter.id, { data: [] as never }), "data_invalid"],
      [() => t.pawl.deadLetters.requeue(letter.id, { data: { pieces: Number.NaN } }), "data_invalid"],
      [() => t.pawl.deadLetters.requeue(letter.id, { dta: {} } as never), "option_invalid"],
      [() => t.pawl.deadLetters.discard(letter.id, { actor: "" }), "option_invalid"],
      [() => t.pawl.deadLetters.list({ lifecycle: order, limit: 0 }), "option_invalid"],
      [() => t.pawl.deadLetters.list({ lifecycle: order, fingerprint: "", status: "open" }), "option_invalid"],
      [
        () => t.pawl.deadLetters.list({ lifecycle: order, fingerprint: letter.fingerprint, status: "requeued" }),
        "option_invalid",
      ],
    ];
    for (const [refused, code] of refusals) await expect(refused()).rejects.toMatchObject({ code });
    expect(await t.pawl.deadLetters.get(letter.id)).toEqual(letter);
    expect(await t.pawl.journal(order, "o")).toHaveLength(2);
  });
});
