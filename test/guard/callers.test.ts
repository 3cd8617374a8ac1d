import { fromDrizzle, fromKysely, fromPrisma, isPawlError, job, queue } from "pawl";
import { labelsToLabelStudio } from "pawl/formats";
import { httpApp } from "pawl/http";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { z } from "zod";
import { checkLabel } from "../../src/people/labels/check-label.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { type Broken, breaking, fails, impatiently, type Way } from "./ways.ts";

// Functions that a call of the user, or a request, leads to: who made the call learns of it, and others go on.

const order = job("order", { run: () => {} });

let t: TestPawl;
let count = 0;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [order] });
});
afterAll(() => t.close());

async function othersGoOn(): Promise<void> {
  const { id } = await t.pawl.enqueue(order, undefined, { key: `fine ${++count}` });
  await t.work();
  expect(await t.pawl.get(order, { id })).toMatchObject({ state: "done" });
}

breaking("Authenticate", async (_, broken) => {
  const app = httpApp(t.pawl, { authenticate: broken });
  const refused = await impatiently(async () => app.request("/api/lifecycles"));
  expect(refused.status).toBe(503);
  expect((await httpApp(t.pawl).request("/health")).status).toBe(200);
  await othersGoOn();
});

describe("what a queue asks of its labels", () => {
  const label = z.object({ ok: z.boolean() });
  const check = (changes: { rules?: Record<string, Broken>; validate?: Broken }) =>
    impatiently(() =>
      checkLabel(queue("checked", { label, ...changes }), { label: { ok: true }, sample: null, labeler: "ada" }),
    );
  const refuses = async (code: string, changes: Parameters<typeof check>[0]) => {
    const { faults } = await check(changes);
    expect(faults).toMatchObject([{ code: expect.stringContaining(code), message: expect.any(String) }]);
    expect(await check({})).toEqual({ label: { ok: true } });
  };
  breaking("QueueDefinition.rules", (_, broken) => refuses("says_why", { rules: { says_why: broken } }));
  breaking("QueueDefinition.validate", async (_, broken) => refuses("validate", { validate: broken }));
});

breaking("LabelStudioOptions.completedBy", async (how, broken) => {
  const at = new Date();
  const label = { queue: "q", sample: "s", key: "s", data: {}, labeler: "ada", label: { ok: true }, leadMs: null };
  const rows = [{ ...label, id: "l", assignment: "a", createdAt: at, completedAt: at }];
  const written = (async () => {
    const lines: string[] = [];
    for await (const line of labelsToLabelStudio(rows as never, { completedBy: broken })) lines.push(line);
    return lines.join("");
  })();
  const outcome = await written.then(
    () => "written",
    () => "refused",
  );
  if (fails(how)) expect(outcome).toBe("refused");
});

describe("a transaction of the user's own", () => {
  async function refused(how: Way, tx: object): Promise<void> {
    const call = t.pawl.enqueue(order, undefined, { key: `within ${++count}`, tx } as never).then(
      () => "done",
      (error: unknown) => error,
    );
    await othersGoOn();
    if (how === "never settles") return; // It is the caller's own connection that it waits for.
    const outcome = await call;
    expect(isPawlError(outcome), `${how}: ${String((outcome as Error)?.stack ?? outcome)}`).toBe(true);
  }
  const sql = { raw: (text: string) => text, join: (list: unknown[]) => list, param: (value: unknown) => value };
  const execute = async () => {
    throw new Error("The database does not understand it.");
  };
  const drizzle = (broken: Partial<typeof sql>) => fromDrizzle({ execute }, { ...sql, ...broken });
  breaking("TransactionLike.query", (how, broken) => refused(how, { query: broken }));
  breaking("fromKysely(trx).executeQuery", (how, broken) => refused(how, fromKysely({ executeQuery: broken })));
  breaking("fromDrizzle(transaction).execute", (how, broken) => refused(how, fromDrizzle({ execute: broken }, sql)));
  breaking("fromDrizzle(sql).raw", (how, raw) => refused(how, drizzle({ raw })));
  breaking("fromDrizzle(sql).join", (how, join) => refused(how, drizzle({ join })));
  breaking("fromDrizzle(sql).param", async (_, param) => {
    await expect(drizzle({ param }).query("select $1", [1])).rejects.toThrow();
    await othersGoOn();
  });
  breaking("fromPrisma(transaction).$queryRawUnsafe", (how, broken) =>
    refused(how, fromPrisma({ $queryRawUnsafe: broken })),
  );
});
