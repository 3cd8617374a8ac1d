import { lifecycle, schedule } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStoreAndPooler } from "../../support/each-store.ts";

/** The move at which the hook throws, as `from event`. */
let throwsAt: string | undefined;
let nests: ((tx: unknown) => Promise<unknown>) | undefined;

interface Queries {
  query(text: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }>;
}

interface Seen {
  readonly from: string | null;
  readonly to: string;
  readonly event: string;
  readonly id: string;
  readonly version: number;
  readonly data: unknown;
}

/** A status table of one's own, and a log of all moves. */
async function note({ tx, from, to, event, id, version, data }: Seen & { readonly tx: Queries }): Promise<void> {
  await nests?.(tx);
  await tx.query("insert into public.moves (id, version, move, data) values ($1, $2, $3, $4)", [
    id,
    version,
    `${from ?? "-"} ${event} ${to}`,
    JSON.stringify(data),
  ]);
  if (throwsAt === `${from ?? "-"} ${event}`) throw new Error("the table is full");
}

const part = lifecycle("part", {
  onMove: note,
  initial: "open",
  states: {
    open: { timeout: { after: "5m", send: "made" }, on: { made: "ready" } },
    ready: { final: "success" },
  },
});

const order = lifecycle("order", {
  onMove: note,
  data: z.object({ amount: z.number().default(1), parts: z.number().default(0) }),
  events: { paid: z.object({ sum: z.number() }) },
  recovery: { after: "10m" },
  initial: "open",
  states: {
    open: {
      timeout: { after: "1h", send: "lapse" },
      on: { paid: { to: "packing", set: ({ payload }) => ({ amount: payload.sum }) }, lapse: "lapsed", noted: {} },
    },
    packing: {
      run: (step) => {
        for (let at = 0; at < step.data.parts; at++) step.start(part, { key: `part-${at}` });
        return step.go("packed");
      },
      retry: { maxAttempts: 2 },
      on: { packed: "gathering" },
    },
    gathering: { join: {}, on: { joined: "parked" } },
    parked: { release: { interval: "1h", limit: 10, send: "released" }, on: { released: "under_way" } },
    under_way: { forever: true, on: { arrived: "done" } },
    done: { final: "success" },
    lapsed: { final: "failure" },
  },
});

const plain = lifecycle("plain", {
  initial: "open",
  states: { open: { forever: true, on: { closed: "shut" } }, shut: { final: "success" } },
});

const nightly = schedule("nightly", {
  interval: "1d",
  start: order,
  key: ({ at }) => `nightly-${at}`,
  data: () => ({}),
});

eachStoreAndPooler((store) => {
  async function open(): Promise<TestPawl> {
    const t = await store.open({ lifecycles: [order, part, plain], schedules: [nightly] });
    await t.db.script("create table public.moves (id uuid, version int, move text, data text)");
    throwsAt = undefined;
    nests = undefined;
    return t;
  }
  const noted = async (t: TestPawl, id: string) => {
    const { rows } = await t.pawl.transaction((tx) =>
      tx.query<{ move: string }>("select move from public.moves where id = $1 order by version", [id]),
    );
    return rows.map(({ move }) => move);
  };
  const journaled = async (t: TestPawl, id: string) =>
    (await t.pawl.journal(order, { id })).map(({ from, event, to }) => `${from ?? "-"} ${event} ${to}`);

  test("every move of a life is noted in its transaction: start, step, children, join, release, callback", async () => {
    await using t = await open();
    const { id } = await t.pawl.start(order, { key: "o", data: { parts: 2 } });
    await t.pawl.send(order, "o", "noted");
    await t.pawl.send(order, "o", "paid", { sum: 7 });
    await t.work();
    await t.advance("2h");
    await t.pawl.receive(order, "o", "arrived", { dedupeKey: "1" });
    expect(await noted(t, id)).toEqual([
      "- start open",
      "open noted open",
      "open paid packing",
      "packing packed gathering",
      "gathering joined parked",
      "parked released under_way",
      "under_way arrived done",
    ]);
    expect(await noted(t, id)).toEqual(await journaled(t, id));
    const children = await t.pawl.transaction((tx) =>
      tx.query<{ id: string }>("select id from pawl.instances where lifecycle = 'part'"),
    );
    expect(children.rows).toHaveLength(2);
    for (const child of children.rows) expect(await noted(t, child.id)).toEqual(["- start open", "open made ready"]);
    const { rows } = await t.pawl.transaction((tx) =>
      tx.query("select data from public.moves where move = 'open paid packing'"),
    );
    expect(rows, "the data after the move").toEqual([{ data: '{"parts":2,"amount":7}' }]);
  });

  test("timers, failures, recoveries, restarts and calls on many are noted, too", async () => {
    await using t = await open();
    const [late, failing] = await t.pawl.startMany(order, [{ key: "late" }, { key: "failing" }]);
    await t.pawl.send(order, "failing", "fail");
    await t.advance("15m");
    await t.work();
    await t.pawl.send(order, "failing", "fail");
    await t.pawl.send(order, "failing", "restart");
    await t.pawl.sendMany(order, [{ to: "failing", event: "discard" }]);
    await t.advance("1h");
    expect(await noted(t, late!.id)).toEqual(["- start open", "open lapse lapsed"]);
    expect(await noted(t, failing!.id)).toEqual(await journaled(t, failing!.id));
    expect((await noted(t, failing!.id)).map((one) => one.split(" ")[1])).toEqual([
      ...["start", "fail", "recover", "fail", "restart", "discard"],
    ]);
  });

  test("a throw fails the start alone, and nothing of it remains", async () => {
    await using t = await open();
    throwsAt = "- start";
    const refused = { code: "hook_failed", message: expect.stringContaining("`onMove` hook for `start` of `order`") };
    await expect(t.pawl.start(order, { key: "o" })).rejects.toMatchObject(refused);
    await expect(t.pawl.startMany(order, [{ key: "o" }, { key: "q" }])).rejects.toMatchObject(refused);
    expect(await t.pawl.get(order, "o")).toBeUndefined();
    await t.pawl.transaction(async (tx) => {
      await expect(t.pawl.start(order, { key: "o", tx })).rejects.toMatchObject(refused);
      await t.pawl.start(plain, { key: "p", tx });
    });
    expect([await t.pawl.get(order, "o"), (await t.pawl.get(plain, "p"))?.state]).toEqual([undefined, "open"]);
    throwsAt = undefined;
    const { id, created } = await t.pawl.start(order, { key: "o" });
    expect([created, await noted(t, id)]).toEqual([true, ["- start open"]]);
    expect((await t.pawl.start(order, { key: "o" })).created, "a start that finds the first is no move").toBe(false);
    expect(await noted(t, id)).toHaveLength(1);
  });

  test("a throw for a call goes to its caller, and to the history", async () => {
    await using t = await open();
    const { id } = await t.pawl.start(order, { key: "o" });
    throwsAt = "open paid";
    await expect(t.pawl.send(order, "o", "paid", { sum: 1 })).rejects.toMatchObject({ code: "hook_failed" });
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "open", version: 1 });
    expect(await noted(t, id)).toEqual(["- start open"]);
    expect(JSON.stringify(await t.pawl.history(order, "o"))).toContain("the table is full");
  });

  test("a throw for a step is an attempt that failed, and one for a child fails the step of its parent", async () => {
    await using t = await open();
    const { id } = await t.pawl.start(order, { key: "o", data: { parts: 1 } });
    throwsAt = "- start";
    await t.pawl.send(order, "o", "paid", { sum: 1 });
    await t.work();
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "packing" });
    throwsAt = "packing packed";
    await t.advance("10s");
    await t.work();
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "failed" });
    expect(await noted(t, id)).toEqual(["- start open", "open paid packing", "packing fail failed"]);
    throwsAt = undefined;
    await t.advance("15m");
    await t.work();
    await t.advance("2h");
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "under_way" });
  });

  test("a throw for a timer or a release is retried by their policies, and blocks no other instance", async () => {
    await using t = await open();
    await t.pawl.start(order, { key: "a" });
    await t.pawl.start(plain, { key: "p" });
    throwsAt = "open lapse";
    await t.advance("1h");
    expect(await t.pawl.get(order, "a")).toMatchObject({ state: "open" });
    await t.pawl.send(plain, "p", "closed");
    throwsAt = undefined;
    await t.advance("1m");
    expect(await t.pawl.get(order, "a")).toMatchObject({ state: "lapsed" });
  });

  test("a tick of a schedule for whose start it throws is spent, and the next one starts", async () => {
    await using t = await open();
    await t.maintain();
    throwsAt = "- start";
    await expect(t.advance("1d")).rejects.toMatchObject({ code: "hook_failed" });
    const [spent] = (await t.pawl.schedules.list().then((list) => ("items" in list ? list.items : list))) as never[];
    expect(JSON.stringify(spent)).toContain("the table is full");
    throwsAt = undefined;
    await t.advance("1d");
    const { rows } = await t.pawl.transaction((tx) =>
      tx.query("select distinct move from public.moves where move like '-%'"),
    );
    expect(rows).toEqual([{ move: "- start open" }]);
  });

  test("calls with its tx are part of the move; the instance itself cannot be moved", async () => {
    await using t = await open();
    nests = async (tx) => {
      nests = undefined;
      await t.pawl.start(plain, { key: "with it", tx: tx as never });
    };
    await t.pawl.start(order, { key: "o" });
    expect(await t.pawl.get(plain, "with it")).toMatchObject({ state: "open" });
    nests = async (tx) => {
      nests = undefined;
      await t.pawl.send(order, "o", "lapse", { tx: tx as never });
    };
    await expect(t.pawl.send(order, "o", "paid", { sum: 1 })).rejects.toMatchObject({ code: "hook_failed" });
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "open" });
  });
});
