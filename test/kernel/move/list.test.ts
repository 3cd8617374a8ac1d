import { job, lifecycle } from "pawl";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";

const order = lifecycle("order", {
  data: z.object({}),
  initial: "open",
  states: {
    open: { forever: true, on: { sent: "packing" } },
    packing: { run: () => {}, on: { packed: "gone" } },
    gone: { final: "success" },
  },
});
const mail = job("mail", { run: () => {} });
const keys = Array.from({ length: 12 }, (_, at) => `order-${String(at).padStart(2, "0")}`);

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [order, mail] });
    const odd = ["Order-1", "orders", "order", "%", "<b>bold</b>", "ö-1"];
    await t.pawl.startMany(
      order,
      [...keys, ...odd].map((key) => ({ key, data: {} })),
    );
    await t.advance("2h");
    await t.pawl.startMany(order, [{ key: "order-late", data: {} }, { data: {} }]);
    for (const key of ["order-03", "order-07", "order-late", "orders"]) await t.pawl.send(order, key, "fail");
    for (const key of ["order-01", "order-07"]) await t.pawl.send(order, key, "discard");
    await t.pawl.send(order, "order-02", "sent");
    await t.pawl.enqueue(mail, undefined, { key: "mail-1" });
    await t.work();
    await t.pawl.enqueue(mail, undefined, { key: "mail-1" });
  });
  afterAll(() => t.close());

  const listed = async (options: Parameters<typeof t.pawl.list<typeof order>>[1]) =>
    (await t.pawl.list(order, options)).map(({ key }) => key);

  test("instances are found by the beginning of their key, in the order of the keys, page by page", async () => {
    const all = [...keys, "order-late"];
    expect(await listed({ key: "order-" })).toEqual(all);
    const found: string[] = [];
    for (let after: { id: string } | undefined; ; ) {
      const page = await t.pawl.list(order, { key: "order-", limit: 5, ...(after && { after }) });
      found.push(...page.map(({ key }) => key!));
      after = page.at(-1);
      if (page.length < 5) break;
    }
    expect(found).toEqual(all);
    expect(await t.pawl.inspect.count(order, { key: "order-" })).toEqual({ count: 13, more: false });
    for (const key of ["%", "<b>bold</b>", "ö-", "Order-"]) expect(await listed({ key })).toHaveLength(1);
    expect(await listed({ key: "order-0%" })).toEqual([]);
    expect(await listed({ key: "" })).toHaveLength(20);
  });

  test("a key goes with all other filters, in states at rest and in those with a step", async () => {
    expect(await listed({ key: "order-", state: "failed" })).toEqual(["order-03", "order-late"]);
    expect(await listed({ key: "order-", state: ["failed", "discarded"], limit: 2 })).toEqual(["order-01", "order-03"]);
    const [, last] = await t.pawl.list(order, { key: "order-", state: ["failed", "discarded"], limit: 2 });
    expect(await listed({ key: "order-", state: ["failed", "discarded"], after: last! })).toEqual([
      "order-07",
      "order-late",
    ]);
    expect(await listed({ key: "order-", state: ["gone", "packing"] })).toEqual(["order-02"]);
    const { failure } = (await t.pawl.get(order, "order-03"))!;
    expect(await listed({ key: "order-", failure: failure!.reason, olderThan: "1h" })).toEqual(["order-03"]);
    expect(await t.pawl.inspect.count(order, { key: "order-", failure: failure!.reason })).toMatchObject({ count: 2 });
    expect(await t.pawl.inspect.count(order, { key: "order-", state: "failed" })).toMatchObject({ count: 2 });
  });

  test("instances are found by their age, and by how long they have not moved", async () => {
    expect(await listed({ olderThan: "1h", state: "failed" })).toEqual(["orders", "order-03"]);
    expect(await listed({ idleFor: "1h", key: "order-0" })).toEqual(
      keys.filter((key) => key < "order-1" && !["order-01", "order-02", "order-03", "order-07"].includes(key)),
    );
    expect(await t.pawl.inspect.count(order, { olderThan: "1h" })).toEqual({ count: 18, more: false });
    expect(await t.pawl.inspect.count(order, { idleFor: "3h" })).toEqual({ count: 0, more: false });
    expect(await t.pawl.inspect.count(order, { state: "failed" })).toEqual({ count: 3, more: false });
    expect(await t.pawl.inspect.count(order)).toEqual({ count: 20, more: false });
  });

  test("both the instance that holds a key and those that held it are found", async () => {
    const found = await t.pawl.list(mail, { key: "mail" });
    expect(found.map(({ state }) => state).toSorted()).toEqual(["done", "pending"]);
    const [first] = await t.pawl.list(mail, { key: "mail", limit: 1 });
    const rest = await t.pawl.list(mail, { key: "mail", after: first! });
    expect([first!.id, ...rest.map(({ id }) => id)].toSorted()).toEqual(found.map(({ id }) => id).toSorted());
  });

  test.each([
    [{ key: 5 }, "`key` must be a text"],
    [{ idleFor: "soon" }, "idleFor"],
    [{ olderThan: -1 }, "olderThan"],
    [{ kee: "x" }, "Did you mean `key`?"],
    [{ key: "x", after: { id: "00000000-0000-7000-8000-000000000000" } }, "List again from the first page"],
  ])("%j is refused", async (options, message) => {
    await expect((async () => t.pawl.list(order, options as never))()).rejects.toMatchObject({
      code: "option_invalid",
      message: expect.stringContaining(message),
    });
  });
});
