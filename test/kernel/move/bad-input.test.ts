import { isPawlError, job, lifecycle, type PawlError } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Pawl } from "../../../src/api/pawl.ts";
import { PermanentError, TransientError } from "../../../src/base/step-errors.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { rowCounts } from "../../support/row-counts.ts";

/** Takes anything, and has an edge for everything that an author can get wrong. */
const box = lifecycle("box", {
  data: z.object({ content: z.any(), count: z.number().default(0) }),
  events: { put: z.object({ content: z.any() }), add: z.object({ text: z.string() }), rate: z.number().min(1).max(5) },
  initial: "open",
  states: {
    open: {
      forever: true,
      on: {
        put: { set: ({ data, payload }) => ({ content: payload.content, count: data.count + 1 }) },
        add: { set: ({ data, payload }) => ({ content: `${data.content}${payload.text}` }) },
        rate: { set: ({ payload }) => ({ count: payload }) },
        guard_throws: { guard: oops },
        guard_waits: { guard: (async () => true) as never },
        set_throws: { set: oops },
        set_waits: { set: (async () => ({ count: 1 })) as never },
        set_nothing: { set: (() => undefined) as never },
        set_list: { set: (() => [1]) as never },
        set_map: { set: (() => new Map([["count", 1]])) as never },
        set_proto: { set: () => JSON.parse('{"__proto__":{"admin":true},"count":5}') },
        set_nul: { set: () => ({ content: "a\u0000b" }) },
        set_nan: { set: () => ({ count: Number.NaN }) },
        clear_nul: { set: () => ({ "a\u0000b": undefined }) as never },
        hook_throws: { before: oops },
        timed: "timed",
        shut: "closed",
      },
    },
    timed: { timeout: { after: ({ data }) => data.content, send: "shut" }, on: { shut: "closed" } },
    closed: { final: "success" },
  },
});

const crate = lifecycle("crate", {
  initial: "open",
  states: { open: { forever: true, on: { shut: "closed" } }, closed: { final: "success" } },
});

const stranger = lifecycle("stranger", {
  initial: "open",
  states: { open: { forever: true, on: { shut: "closed" } }, closed: { final: "success" } },
});

function oops(): never {
  throw new Error("oops");
}

function nested(levels: number): unknown {
  let value: unknown = "core";
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

function circular(): unknown {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
}

/** What JSON cannot carry, what Postgres cannot store, and what is too much. */
const unstorable: Record<string, () => unknown> = {
  "2 MB": () => "x".repeat(2 * 1024 * 1024),
  __proto__: () => JSON.parse('{"__proto__":{"admin":true}}'),
  "a __proto__ deeper down": () => JSON.parse('[{"a":{"__proto__":null}}]'),
  NUL: () => "a\u0000b",
  "NUL in a key": () => ({ "a\u0000b": 1 }),
  "half a surrogate pair": () => "\ud83d",
  "half a surrogate pair in a key": () => ({ "\ude00": 1 }),
  "10,000 levels": () => nested(10_000),
  NaN: () => Number.NaN,
  Infinity: () => -Infinity,
  bigint: () => 5n,
  Date: () => new Date(0),
  Map: () => new Map([[1, 2]]),
  function: () => oops,
  "undefined in a list": () => [1, undefined],
  "a circle": circular,
};

eachStore((store) => {
  const content = "a book";

  async function open(): Promise<TestPawl> {
    const t = await store.open({ lifecycles: [box, crate] });
    await t.pawl.start(box, { key: "good", data: { content } });
    await t.pawl.start(crate, { key: "crate" });
    return t;
  }

  /** Types are for those who have them: what follows may come from plain JavaScript, or over a wire. */
  function untyped(
    t: TestPawl,
  ): Record<
    "start" | "startMany" | "send" | "sendMany" | "get" | "list" | "wait" | "allowedEvents" | "transaction",
    (...given: unknown[]) => Promise<unknown>
  > {
    const { pawl } = t;
    return Object.fromEntries(
      ["start", "startMany", "send", "sendMany", "get", "list", "wait", "allowedEvents", "transaction"].map((verb) => [
        verb,
        async (...given: unknown[]) => (pawl[verb as keyof Pawl] as (...all: unknown[]) => unknown).apply(pawl, given),
      ]),
    ) as never;
  }

  /** A call that must be refused, with nothing written, and without harm to the next one. */
  async function refused(
    t: TestPawl,
    call: () => Promise<unknown>,
    code: string,
    says: RegExp | string = /./,
  ): Promise<PawlError> {
    const before = await rowCounts(t);
    const error = await call().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!isPawlError(error)) throw new Error(`Not refused, but: ${String(error)}`, { cause: error });
    expect(error, error.message).toMatchObject({ code });
    expect(error.message).toMatch(says);
    expect(error.message).toMatch(/^[\s\S]{15,1500}[.!?]$/);
    // What the definition itself throws at is noted in the history (A54), and that is all.
    const notes = ["guard_failed", "set_failed", "hook_failed"].includes(code) ? 1 : 0;
    expect(await rowCounts(t)).toEqual({ ...before, attempts: before.attempts! + notes });
    const { version } = (await t.pawl.get(box, "good"))!;
    expect(await t.pawl.send(box, "good", "rate", 3)).toMatchObject({ version: version + 1 });
    return error;
  }

  test("data that its schema does not take starts nothing, and each fault is named", async () => {
    await using t = await open();
    const { start } = untyped(t);
    const fault = await refused(
      t,
      () => start(box, { data: { content, count: "many" } }),
      "data_invalid",
      /count: .*expected number/,
    );
    expect(fault.details).toMatchObject({ lifecycle: "box", faults: [expect.stringContaining("count")] });
    for (const data of [undefined, null, "x", 5, [], true])
      await refused(t, () => start(box, { data }), "data_invalid");
    await refused(t, () => start(box), "data_invalid");
    await refused(t, () => start(crate, { data: { content } }), "data_invalid", /is given, but none is declared/);
    await refused(t, () => start(crate, { data: new Map([[1, 2]]) }), "data_invalid");
  });

  test("a payload that its schema does not take moves nothing, and each fault is named", async () => {
    await using t = await open();
    const { send } = untyped(t);
    await refused(t, () => send(box, "good", "rate", 7), "payload_invalid", /its payload .*<=5/);
    for (const payload of [undefined, null, "5", {}, [3], Number.NaN]) {
      await refused(t, () => send(box, "good", "rate", payload), "payload_invalid");
    }
    await refused(t, () => send(box, "good", "shut", { why: 1 }, {}), "payload_invalid", /none is declared/);
    await refused(t, () => send(box, "good", "fail", "broken"), "payload_invalid", /such as \{ reason \}/);
    await refused(t, () => send(box, "good", "fail", { reason: 5 }), "payload_invalid", /reason: must be a text/);
  });

  test("what cannot be stored is refused at the door, as data, as payload, and for later", async () => {
    await using t = await open();
    const { start, send } = untyped(t);
    for (const make of Object.values(unstorable)) {
      await refused(t, () => start(box, { data: { content: make() } }), "value_not_serializable", /^The data of `box`/);
      await refused(
        t,
        () => send(box, "good", "put", { content: make() }),
        "value_not_serializable",
        /^The payload of `put`/,
      );
      await refused(t, () => send(box, "good", "put", { content: make() }, { after: "1h" }), "value_not_serializable");
    }
  });

  test("what a definition makes of good input cannot be stored either, and says so to its author", async () => {
    await using t = await open();
    const { send } = untyped(t);
    await refused(t, () => send(box, "good", "set_proto"), "value_not_serializable", "__proto__");
    await refused(t, () => send(box, "good", "set_nul"), "value_not_serializable", /^The data\.content holds a NUL/);
    await refused(t, () => send(box, "good", "set_nan"), "value_not_serializable", /^The data\.count is NaN/);
    await refused(t, () => send(box, "good", "clear_nul"), "value_not_serializable", /NUL/);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test("a guard, a set or a hook that throws or answers rubbish is named, and nothing is changed", async () => {
    await using t = await open();
    const { send } = untyped(t);
    await refused(
      t,
      () => send(box, "good", "guard_throws"),
      "guard_failed",
      "The guard of `guard_throws` in `open` threw: oops",
    );
    await refused(t, () => send(box, "good", "guard_waits"), "guard_failed", "returned a promise");
    await refused(
      t,
      () => send(box, "good", "set_throws"),
      "set_failed",
      "The `set` of `set_throws` in `open` threw: oops",
    );
    await refused(t, () => send(box, "good", "set_waits"), "set_failed", "returned a promise");
    for (const event of ["set_nothing", "set_list", "set_map"]) {
      await refused(t, () => send(box, "good", event), "set_failed", "must return the keys to change");
    }
    await refused(t, () => send(box, "good", "hook_throws"), "hook_failed", "threw: oops. Nothing was changed.");
    await t.pawl.send(box, "good", "put", { content: "soon" });
    await refused(
      t,
      () => send(box, "good", "timed"),
      "set_failed",
      'The timeout of `timed`: "soon" is not a duration',
    );
  });

  test("a schema that answers later is refused, since decisions are made at once", async () => {
    const slow = lifecycle("slow", {
      data: z.object({ a: z.string().refine(async () => true) }),
      events: { look: z.string().refine(async () => true) },
      initial: "open",
      states: { open: { forever: true, on: { look: "closed" } }, closed: { final: "success" } },
    });
    await using t = await store.open({ lifecycles: [slow, box] });
    await t.pawl.start(box, { key: "good", data: { content } });
    await refused(t, () => t.pawl.start(slow, { data: { a: "x" } }), "schema_async", /use a synchronous one/);
  });

  test("a nesting that breaks the schema's own recursion is refused, and not the process's end", async () => {
    const tree = lifecycle("tree", {
      data: z.object({ a: z.json() }),
      events: { grow: z.json() },
      initial: "open",
      states: {
        open: { forever: true, on: { grow: { set: ({ payload }) => ({ a: payload }) }, fell: "closed" } },
        closed: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [tree, box] });
    await t.pawl.start(box, { key: "good", data: { content } });
    await t.pawl.start(tree, { key: "t", data: { a: 1 } });
    const { start, send } = untyped(t);
    await refused(
      t,
      () => start(tree, { data: { a: nested(100_000) } }),
      "data_invalid",
      /nested deeper than 64 levels/,
    );
    await refused(t, () => send(tree, "t", "grow", nested(100_000)), "payload_invalid", /nested deeper than 64 levels/);
  });

  test("an event that the lifecycle does not have is told with those that it takes", async () => {
    await using t = await open();
    const { send } = untyped(t);
    for (const event of ["open_", "__proto__", "constructor", "start", "rename", "x".repeat(500)]) {
      await refused(t, () => send(box, "good", event), "event_unknown", "it takes `put`, `add`, `rate`");
      await refused(t, () => send(box, "good", event, { some: "payload" }, {}), "event_unknown");
      await refused(t, () => send(box, "good", event, undefined, { after: "1h" }), "event_unknown");
    }
    for (const event of [undefined, null, 5, {}, "", "x".repeat(501), "a\u0000", Symbol("x")]) {
      await refused(t, () => send(box, "good", event), "option_invalid", "The event");
    }
  });

  test("an instance that does not exist is told by what it was looked for", async () => {
    await using t = await open();
    const { send, get, wait, allowedEvents } = untyped(t);
    const id = "0195a1c0-0000-7000-8000-000000000000";
    await refused(t, () => send(box, "nobody", "shut"), "instance_unknown", 'the key "nobody", and there is none');
    await refused(t, () => send(box, { id }, "shut"), "instance_unknown", `the id ${id}, and there is none`);
    await refused(t, () => wait(box, "nobody"), "instance_unknown");
    await refused(t, () => allowedEvents(box, { id }), "instance_unknown");
    expect(await get(box, { id })).toBeUndefined();
  });

  test("the id of another lifecycle's instance is not one of this", async () => {
    await using t = await open();
    const other = (await t.pawl.get(crate, "crate"))!;
    await refused(t, () => t.pawl.send(box, other, "shut"), "instance_unknown");
    expect(await t.pawl.get(box, other)).toBeUndefined();
    expect(await t.pawl.get(crate, other)).toEqual(other);
  });

  test("what is neither a key nor an id is refused, with how to write one", async () => {
    await using t = await open();
    const { send, get } = untyped(t);
    for (const id of [
      "",
      "p1",
      "0195a1c0",
      "0195a1c0-0000-7000-8000-00000000000g",
      5,
      null,
      undefined,
      5n,
      {},
      circular(),
    ]) {
      await refused(t, () => send(box, { id }, "shut"), "option_invalid", "is not an instance's id");
    }
    for (const ref of [undefined, null, 5, true, {}, [], Symbol("x")]) {
      await refused(t, () => send(box, ref, "shut"), "option_invalid", "its key, as a string, or by { id }");
      await refused(t, () => get(box, ref), "option_invalid");
    }
    const upper = (await t.pawl.get(box, "good"))!.id.toUpperCase();
    expect(await t.pawl.get(box, { id: upper })).toMatchObject({ key: "good" });
  });

  test("a key is a text of 1 to 500 characters that can be stored", async () => {
    await using t = await open();
    const { start, send } = untyped(t);
    for (const key of ["", "k".repeat(9_000), "a\u0000b", "\ud800", 5, {}, ["k"]]) {
      await refused(t, () => start(box, { key, data: { content } }), "key_invalid", "The key");
      if (typeof key === "string") await refused(t, () => send(box, key, "shut"), "key_invalid");
      await refused(t, () => send(box, { key }, "shut"), "key_invalid");
    }
    const longest = "😀".repeat(250);
    expect(await t.pawl.start(box, { key: longest, data: { content } })).toMatchObject({ created: true, key: longest });
    expect(await t.pawl.get(box, longest)).toMatchObject({ key: longest });
  });

  test("a lifecycle that was not given to createPawl is refused, also one of the same name", async () => {
    await using t = await open();
    const { start, send, get, list } = untyped(t);
    const twin = lifecycle("crate", {
      initial: "open",
      states: { open: { forever: true, on: { shut: "closed" } }, closed: { final: "success" } },
    });
    for (const unknown of [stranger, twin, undefined, null, "box", {}, { name: "box" }, Symbol("box")]) {
      await refused(t, () => start(unknown, {}), "lifecycle_unknown", "createPawl({ lifecycles");
      await refused(t, () => send(unknown, "good", "shut"), "lifecycle_unknown");
      await refused(t, () => get(unknown, "good"), "lifecycle_unknown");
      await refused(t, () => list(unknown), "lifecycle_unknown");
    }
  });

  test("when to send it is a duration or a date, and not both", async () => {
    await using t = await open();
    const { send } = untyped(t);
    const later = (options: unknown) => () => send(box, "good", "shut", options);
    for (const after of ["soon", "-5m", "5 m", -1, Number.NaN, Infinity, {}, "101y", 1e300, 5n]) {
      await refused(t, later({ after }), "option_invalid", /^after: /);
    }
    for (const at of [new Date(Number.NaN), "2030-01-01", 1_900_000_000_000, new Date(-1), new Date(8.64e15), {}]) {
      await refused(t, later({ at }), "option_invalid", "`at` must be a valid Date");
    }
    await refused(t, later({ after: "1h", at: new Date() }), "option_invalid", "Use `after` or `at`, not both");
    await t.pawl.send(box, "good", "shut", { at: new Date(t.now().getTime() - 1) });
    await t.maintain();
    expect(await t.pawl.get(box, "good")).toMatchObject({ state: "closed" });
  });

  test("the other options of a call are what they say, or refused", async () => {
    await using t = await open();
    const { send, start } = untyped(t);
    const shut = (options: unknown) => () => send(box, "good", "shut", options);
    for (const expectedVersion of ["1", 1.5, Number.NaN, null, {}]) {
      await refused(t, shut({ expectedVersion }), "option_invalid", "`expectedVersion` must be");
    }
    await refused(t, shut({ expectedVersion: 99 }), "version_conflict", /expected version 99 .* Read it again/);
    for (const text of ["", "x".repeat(501), "a\u0000", "\ud800", 5, {}, ["ada"]]) {
      await refused(t, shut({ actor: text }), "option_invalid", "The actor");
      await refused(t, shut({ reason: text }), "option_invalid", "The reason");
      await refused(t, shut({ idempotencyKey: text }), "option_invalid", "The idempotency key");
      await refused(t, () => start(box, { data: { content }, actor: text }), "option_invalid", "The actor");
    }
    for (const content of [circular(), 5n]) {
      const again = () => send(box, "good", "put", { content }, { idempotencyKey: "k" });
      await refused(t, again, "value_not_serializable");
    }
  });

  test("an option that does not exist is refused, so that none is silently not followed", async () => {
    await using t = await open();
    const { send, start, sendMany, startMany, list, wait, transaction } = untyped(t);
    await refused(
      t,
      () => send(box, "good", "shut", { idempotency_key: "k" }),
      "option_invalid",
      /Unknown option `idempotency_key` for `send`. Did you mean `idempotencyKey`\?/,
    );
    await refused(
      t,
      () => send(box, "good", "shut", { content: "lost" }),
      "option_invalid",
      "Unknown option `content`",
    );
    await refused(t, () => start(box, { content }), "option_invalid", "Unknown option `content`");
    for (const options of [null, 5, "now", []]) {
      await refused(t, () => send(box, "good", "shut", options), "option_invalid", "takes an object");
      await refused(t, () => start(box, options), "option_invalid", "takes an object");
    }
    for (const items of [undefined, null, {}, "items"]) {
      await refused(t, () => startMany(box, items), "option_invalid", "`items` must be a list.");
      await refused(t, () => sendMany(box, items), "option_invalid", "`items` must be a list.");
    }
    await refused(t, () => list(box, { state: "ajar" }), "option_invalid", "`box` has no state `ajar`; it has open");
    for (const limit of [0, -1, 1.5, 1_001, "10", Number.NaN])
      await refused(t, () => list(box, { limit }), "option_invalid", "`limit`");
    await refused(t, () => list(box, { after: { key: "good" } }), "option_invalid", "`after` must be");
    await refused(t, () => wait(box, "good", { until: "ajar" }), "option_invalid", "has no state `ajar`");
    await refused(t, () => wait(box, "good", { timeout: "soon" }), "option_invalid", "timeout");
    await refused(t, () => transaction("begin"), "option_invalid", "needs a function");
  });

  test("what is no transaction is refused as tx, and leaves no trace", async () => {
    await using t = await open();
    const { send, start } = untyped(t);
    const shut = (tx: unknown) => () => send(box, "good", "shut", { tx });
    for (const tx of [null, {}, 5, "tx", { query: 5 }, { rows: [], query: "x" }, []]) {
      await refused(t, shut(tx), "option_invalid", "`tx` must be a connection");
      await refused(t, () => start(box, { data: { content }, tx }), "option_invalid");
    }
    for (const answer of [undefined, null, [], { rows: 5 }, "rows"]) {
      await refused(t, shut({ query: async () => answer }), "option_invalid", "must answer with `{ rows }`");
    }
    let ended: unknown;
    await t.pawl.transaction(async (tx) => {
      ended = tx;
    });
    await refused(t, shut(ended), "not_a_transaction", "This transaction has ended");
    const outside = { query: (text: string) => t.db.rows({ text, name: "", values: [] }).then((rows) => ({ rows })) };
    await refused(t, shut(outside), "not_a_transaction", "begin one first");
  });

  test("a transaction in which a statement has failed takes no call any more, and says why", async () => {
    await using t = await open();
    const inFailed = () =>
      t.pawl.transaction(async (tx) => {
        await tx.query("select 1 / 0").catch(() => {});
        return t.pawl.send(box, "good", "shut", { tx });
      });
    await refused(t, inFailed, "not_a_transaction", "An earlier statement of this transaction failed");
  });

  test("a closed Pawl answers every call with closed", async () => {
    const t = await open();
    await t.pawl.close();
    await t.pawl.close();
    const { start, startMany, send, sendMany, get, list, wait, allowedEvents, transaction } = untyped(t);
    const calls: Record<string, () => Promise<unknown>> = {
      start: () => start(box, { data: { content } }),
      startMany: () => startMany(box, [{ data: { content } }]),
      send: () => send(box, "good", "shut"),
      get: () => get(box, "good"),
      find: () => list(box),
      wait: () => wait(box, "good"),
      permitted: () => allowedEvents(box, "good"),
      transaction: () => transaction(async () => {}),
      counts: () => t.pawl.inspect.counts(box),
      journal: () => t.pawl.journal(box, "good"),
      maintain: async () => t.pawl.maintain(),
    };
    for (const [verb, call] of Object.entries(calls)) {
      await expect(call(), verb).rejects.toMatchObject({
        code: "closed",
        message: "This Pawl is closed. Create a new one.",
      });
    }
    expect(await sendMany(box, [{ to: "good", event: "shut" }])).toMatchObject([
      { ok: false, error: { code: "closed" } },
    ]);
    await t.close();
  });

  test("startMany checks the whole list first: one bad item is named by its place, and nothing is written", async () => {
    await using t = await open();
    const { startMany } = untyped(t);
    const good = Array.from({ length: 600 }, (_, index) => ({ key: `k${index}`, data: { content } }));
    const bad: [unknown, string, string][] = [
      [{ data: { count: "many" } }, "data_invalid", "count"],
      [{ data: { content: "a\u0000b" } }, "value_not_serializable", "NUL"],
      [{ key: "", data: { content } }, "key_invalid", "The key"],
      [{ dat: { content } }, "option_invalid", "Unknown option `dat`"],
      [null, "option_invalid", "takes an object"],
    ];
    for (const [item, code, says] of bad) {
      const error = await refused(t, () => startMany(box, [...good, item, ...good]), code, says);
      expect(error.message).toMatch(/^Item 600 of the list: .* Nothing of the list was written\.$/s);
      expect(error.details).toMatchObject({ index: 600 });
      await refused(t, () => t.pawl.transaction((tx) => startMany(box, [...good, item], { tx })), code);
    }
    expect(await t.pawl.startMany(box, good)).toHaveLength(600);
  });

  test("enqueueMany checks the whole list first, too", async () => {
    const mail = job("mail", { payload: z.object({ to: z.string() }), run: () => {} });
    await using t = await store.open({ lifecycles: [mail, box] });
    await t.pawl.start(box, { key: "good", data: { content } });
    const good = { payload: { to: "ada" } };
    const bad: [object, string][] = [
      [{ payload: { to: 5 } }, "data_invalid"],
      [{ ...good, after: "soon" }, "option_invalid"],
      [{ ...good, priority: 1.5 }, "option_invalid"],
      [{ ...good, prio: 1 }, "option_invalid"],
      [{ ...good, key: "" }, "key_invalid"],
    ];
    for (const [item, code] of bad) {
      const error = await refused(
        t,
        () => t.pawl.enqueueMany(mail, [good, item as typeof good]),
        code,
        /^Item 1 of the list: /,
      );
      expect(error.details).toMatchObject({ index: 1 });
    }
    await refused(
      t,
      () => t.pawl.enqueue(mail, good.payload, { prio: 1 } as never),
      "option_invalid",
      "Unknown option `prio`",
    );
    expect(await t.pawl.enqueueMany(mail, [good, good])).toHaveLength(2);
  });

  test("sendMany answers each for itself: whatever is wrong with one, its neighbours are sent, in their order", async () => {
    await using t = await open();
    await t.pawl.startMany(
      box,
      Array.from({ length: 30 }, (_, index) => ({ key: `k${index}`, data: { content } })),
    );
    const put = (index: number, more: object = {}) => ({
      to: `k${index}`,
      event: "put",
      payload: { content: index },
      ...more,
    });
    const bad: [unknown, string][] = [
      [put(1, { payload: { content: "a\u0000b" } }), "value_not_serializable"],
      [put(2, { payload: { content: "x".repeat(2 * 1024 * 1024) } }), "value_not_serializable"],
      [put(3, { payload: 5 }), "payload_invalid"],
      [put(4, { event: "ajar" }), "event_unknown"],
      [put(5, { event: 5 }), "option_invalid"],
      [put(6, { to: "nobody" }), "instance_unknown"],
      [put(7, { to: { id: "k7" } }), "option_invalid"],
      [put(8, { to: undefined }), "option_invalid"],
      [put(9, { to: "" }), "key_invalid"],
      [put(10, { event: "guard_throws", payload: undefined }), "guard_failed"],
      [put(11, { event: "set_throws", payload: undefined }), "set_failed"],
      [put(12, { event: "set_proto", payload: undefined }), "value_not_serializable"],
      [put(13, { event: "hook_throws", payload: undefined }), "hook_failed"],
      [put(14, { after: "soon" }), "option_invalid"],
      [put(15, { at: new Date(-8.64e15) }), "option_invalid"],
      [put(16, { expectedVersion: 7 }), "version_conflict"],
      [put(17, { actor: "a\u0000b" }), "option_invalid"],
      [put(18, { idempotencyKey: "k", payload: { content: circular() } }), "value_not_serializable"],
      [put(19, { idempotency_key: "k" }), "option_invalid"],
      [put(20, { event: "clear_nul", payload: undefined }), "value_not_serializable"],
      [null, "option_invalid"],
    ];
    for (const tx of [false, true]) {
      const codes = bad.map(([, code]) => code);
      const items = bad.flatMap(([item], index) => [put(index), item]);
      const { sendMany } = untyped(t);
      const send = (options?: object) => sendMany(box, items, options);
      const answers = (await (tx ? t.pawl.transaction((own) => send({ tx: own })) : send())) as {
        ok: boolean;
        error: PawlError;
      }[];
      expect(answers.map((one) => (one.ok ? "ok" : one.error.code))).toEqual(codes.flatMap((code) => ["ok", code]));
      const counts = (await t.pawl.list(box, { limit: 100 }))
        .filter((one) => one.key !== "good")
        .map((one) => one.data.count);
      expect(counts.reduce((sum, one) => sum + one, 0)).toBe(bad.length * (tx ? 2 : 1));
    }
  });

  test("calls made at the same time are committed together, and a bad one among them fails alone", async () => {
    await using t = await open();
    const starts = Array.from({ length: 40 }, (_, index) =>
      t.pawl.start(box, { key: `k${index}`, data: { content: index % 4 === 0 ? "a\u0000b" : "fine" } }),
    );
    const started = await Promise.allSettled(starts);
    expect(started.map((one) => one.status)).toEqual(
      starts.map((_, index) => (index % 4 === 0 ? "rejected" : "fulfilled")),
    );
    expect(await t.pawl.inspect.counts(box)).toEqual({ open: 31 });
    const events = ["put", "guard_throws", "set_nul", "hook_throws", "put", "put"] as const;
    const sends = Array.from({ length: 40 }, (_, index) =>
      untyped(t).send(
        box,
        `k${index}`,
        events[index % 6],
        events[index % 6] === "put" ? { content: index } : undefined,
        {},
      ),
    );
    const sent = await Promise.allSettled(sends);
    const wanted = sends.map((_, index) => (index % 4 !== 0 && events[index % 6] === "put" ? "fulfilled" : "rejected"));
    expect(sent.map((one) => one.status)).toEqual(wanted);
  });

  test("sends to one instance keep their order, whether it is named by key or by id", async () => {
    await using t = await open();
    const { id } = (await t.pawl.get(box, "good"))!;
    const items = Array.from({ length: 9 }, (_, index) => ({
      to: index % 2 === 0 ? "good" : { id },
      event: "add" as const,
      payload: { text: String(index) },
    }));
    await t.pawl.sendMany(box, items);
    expect(await t.pawl.get(box, "good")).toMatchObject({ data: { content: "a book012345678" } });
  });

  test("data that outgrows its room is refused to the one who adds to it, and to no one else in the batch", async () => {
    await using t = await open();
    const half = "x".repeat(600_000);
    await t.pawl.start(box, { key: "full", data: { content: half } });
    const answers = await t.pawl.sendMany(box, [
      { to: "good", event: "add", payload: { text: "1" } },
      { to: "full", event: "add", payload: { text: half } },
      { to: "full", event: "add", payload: { text: "!" } },
      { to: "good", event: "add", payload: { text: "2" } },
    ]);
    expect(answers.map((one) => (one.ok ? "ok" : one.error.code))).toEqual([
      "ok",
      "value_not_serializable",
      "ok",
      "ok",
    ]);
    expect((await t.pawl.get(box, "full"))!.data.content).toHaveLength(600_001);
    expect(await t.pawl.get(box, "good")).toMatchObject({ data: { content: "a book12" } });
  });

  test("many of the largest values at once are more than a statement carries, and all the same written", async () => {
    await using t = await open();
    const large = "x".repeat(1_000_000);
    const items = Array.from({ length: 25 }, (_, index) => ({ key: `k${index}`, data: { content: large } }));
    expect(await t.pawl.startMany(box, items)).toHaveLength(25);
    const sends = items.map(({ key }) => ({ to: key, event: "put" as const, payload: { content: large } }));
    expect((await t.pawl.sendMany(box, sends)).filter((one) => one.ok)).toHaveLength(25);
    expect(await t.pawl.get(box, "k24")).toMatchObject({ version: 2, data: { count: 1 } });
  });

  test("what only the database refuses is refused alone, among starts, sends and what is due", async () => {
    await using t = await open();
    await t.db.script(`
      create or replace function public.pg_temp_refuse() returns trigger language plpgsql as $$
      begin raise exception 'not this one' using errcode = '23514'; end $$;
      create trigger zz_refuse_start before insert on pawl.instances
        for each row when (new.key = 'odd') execute function public.pg_temp_refuse();
      create trigger zz_refuse_move before update on pawl.instances
        for each row when (new.key = 'k3') execute function public.pg_temp_refuse();`);
    try {
      const keys = ["k1", "odd", "k2", "k3", "k4"];
      const starts = await Promise.allSettled(keys.map((key) => t.pawl.start(box, { key, data: { content } })));
      expect(starts.map((one) => one.status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
      const sent = await t.pawl.sendMany(
        box,
        ["k1", "k2", "k3", "k4"].map((to) => ({ to, event: "rate" as const, payload: 5 })),
      );
      expect(sent.map((one) => (one.ok ? "ok" : one.error.code))).toEqual(["ok", "ok", "invariant_broken", "ok"]);
      for (const key of ["k1", "k2", "k4"]) await t.pawl.send(box, key, "put", { content: "1h" });
      for (const key of ["k1", "k4"]) await t.pawl.send(box, key, "timed");
      await t.db.script(
        "create trigger zz_refuse_due before update on pawl.instances for each row when (new.key = 'k1') execute function public.pg_temp_refuse();",
      );
      await expect(t.advance("2h")).rejects.toMatchObject({ code: "invariant_broken" });
      expect(await t.pawl.get(box, "k4")).toMatchObject({ state: "closed" });
      expect(await t.pawl.get(box, "k1")).toMatchObject({ state: "timed" });
    } finally {
      await t.db.script("drop function public.pg_temp_refuse() cascade");
    }
  });

  test("a job whose key has been taken by the next one cannot be restarted, and harms no other in the batch", async () => {
    const mail = job("mail", { run: () => Promise.reject(new PermanentError("no such address")) });
    await using t = await store.open({ lifecycles: [mail] });
    await t.pawl.startMany(mail, [{ key: "a" }, { key: "b" }]);
    await t.work();
    const [b, a] = await t.pawl.list(mail, { state: "error" });
    await t.pawl.start(mail, { key: "a" });
    const sent = await t.pawl.sendMany(mail, [
      { to: a!, event: "restart" },
      { to: b!, event: "restart" },
    ]);
    expect(sent.map((one) => (one.ok ? one.instance.state : one.error.code))).toEqual(["key_invalid", "pending"]);
  });

  test("what a step says and cannot be stored is an attempt that failed, and its neighbours' results are kept", async () => {
    const hostile = Object.create(null) as object;
    const nameless = Object.assign(new Error("x"), { name: 5, stack: [1] });
    const said: Record<
      string,
      (step: {
        set(patch: object): void;
        publish(type: unknown, payload: unknown): void;
        go(event: string, payload?: unknown): unknown;
        retryLater(options: object): unknown;
        giveUp(reason: unknown): unknown;
      }) => unknown
    > = {
      fine: () => {},
      "sets NUL": (step) => step.set({ note: "a\u0000b" }),
      "sets a date": (step) => step.set({ note: new Date(0) }),
      "publishes NUL": (step) => step.publish("mail", "a\u0000b"),
      "publishes under no name": (step) => step.publish("", {}),
      "publishes under NUL": (step) => step.publish("a\u0000b", {}),
      "publishes under a number": (step) => step.publish(5, {}),
      "goes where nothing leads": (step) => step.go("away"),
      "goes with what is not asked for": (step) => step.go("done", { extra: true }),
      "goes to a number": (step) => step.go(5 as never),
      "answers rubbish": () => 5,
      "throws NUL": () => Promise.reject(new Error("a\u0000b\ud800")),
      "throws what has no text": () => Promise.reject(hostile),
      "throws what is no text underneath": () => Promise.reject(nameless),
      "throws nothing": () => Promise.reject(),
      "throws much": () => Promise.reject(new Error("x".repeat(5_000_000))),
      "wants to rest for ever": () => Promise.reject(new TransientError("x", { retryAfterMs: Infinity })),
      "wants to rest a nothing": () => Promise.reject(new TransientError("x", { retryAfterMs: Number.NaN })),
      "rests for a reason of NUL": (step) => step.retryLater({ after: "1m", reason: "a\u0000b" }),
      "rests for a reason without text": (step) => step.retryLater({ after: "1m", reason: hostile }),
      "also fine": () => {},
    };
    const chore = lifecycle("chore", {
      data: z.object({ how: z.string(), note: z.string().optional() }),
      initial: "doing",
      states: {
        doing: {
          run: (step) => said[step.data.how]!(step as never) as never,
          retry: { maxAttempts: 2, backoff: () => Number.NaN },
          on: { done: "done" },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [chore] });
    await t.pawl.startMany(
      chore,
      Object.keys(said).map((how) => ({ key: how, data: { how } })),
    );
    await t.work();
    expect(await t.pawl.inspect.counts(chore)).toEqual({ done: 2, doing: Object.keys(said).length - 2 });
    await t.advance("10m");
    await t.work();
    const rest = await t.pawl.list(chore, { state: "doing" });
    // What is at odds with the definition waits for its author, and spends no attempt.
    expect(rest.map((one) => one.key).sort()).toEqual([
      "answers rubbish",
      "goes to a number",
      "goes where nothing leads",
      "rests for a reason of NUL",
      "rests for a reason without text",
    ]);
    expect(await t.pawl.inspect.counts(chore)).toMatchObject({ done: 2, failed: Object.keys(said).length - 7 });
    const failed = (await t.pawl.journal(chore, "throws NUL")).at(-1)!;
    expect(failed).toMatchObject({ event: "fail", payload: { attempts: 2, error: { message: "a\ufffdb\ufffd" } } });
  });

  test("a retry policy that throws still comes to its end", async () => {
    const chore = lifecycle("chore", {
      initial: "doing",
      states: {
        doing: { run: oops, retry: { maxAttempts: 2, backoff: oops }, on: { done: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [chore] });
    await t.pawl.start(chore, { key: "c" });
    await t.work();
    await t.advance("10m");
    await t.work();
    expect(await t.pawl.get(chore, "c")).toMatchObject({ state: "failed" });
  });
});
