import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constant, folderArchive, job, lifecycle, PermanentError } from "pawl";
import { memoryBroker, testPawl } from "pawl/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { operationDeciders } from "../../src/api/open/operation-deciders.ts";
import { callIn } from "../../src/cli/transport/reach.ts";
import type { RouteName } from "../../src/http/routes/routes.ts";
import { Verbs } from "../../src/kernel/verbs.ts";
import { runOneBatch } from "../../src/operations/run-operations.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";
import { fail, order, world } from "./orders.ts";

const parcel = lifecycle("parcel", {
  initial: "weighing",
  states: {
    weighing: { run: (step) => step.publish("parcel.weighed", {}), on: { weighed: "weighed" } },
    weighed: { final: "success" },
  },
});
const email = job("email", { run: () => Promise.reject(new PermanentError("no such address 7")) });

eachStore((store) => {
  const open = (options = {}) => store.open({ lifecycles: [order], ...options });
  const round = (t: TestPawl) => runOneBatch(t.kernel, operationDeciders(t.kernel, new Verbs(t.kernel)));

  test("letters of the same error in the same place are one group, whatever numbers and ids the error holds", async () => {
    await using t = await open();
    await fail(t, 3, "box % of 0199a1c2-7d4e-7000-8a3b-0123456789ab is broken");
    await t.advance("1h");
    await fail(t, 2, "no room on shelf %");
    await fail(t, 1, "box %/% of 5f0e8400-e29b-41d4-a716-446655440000 is broken");
    const groups = await t.pawl.deadLetters.groups();
    expect(groups).toMatchObject([
      {
        lifecycle: "order",
        origin: "packing",
        pattern: "Error: box # of # is broken",
        letters: 4,
        reasons: ["attempts_used_up"],
      },
      { pattern: "Error: no room on shelf #", letters: 2 },
    ]);
    expect(groups[0]!.lastAt.getTime() - groups[0]!.firstAt.getTime()).toBe(3_600_000);
    expect(await t.pawl.deadLetters.get(groups[0]!.newest)).toMatchObject({ fingerprint: groups[0]!.fingerprint });
    const [newest, ...others] = await t.pawl.deadLetters.list({ fingerprint: groups[0]!.fingerprint });
    expect(newest).toMatchObject({ id: groups[0]!.newest, fingerprint: groups[0]!.fingerprint });
    expect(others).toHaveLength(3);
    const { fingerprint } = newest!;
    expect(await t.pawl.deadLetters.list({ lifecycle: order, fingerprint, after: newest!, limit: 2 })).toEqual(
      others.slice(0, 2),
    );
    expect(await t.pawl.deadLetters.groups({ lifecycle: order, from: t.now() })).toMatchObject([
      { letters: 2 },
      { letters: 1 },
    ]);
  });

  test("many are requeued after a preview, each in the name of who wanted it, and those that cannot be are told", async () => {
    await using t = await open();
    await fail(t, 5);
    await fail(t, 2, "no room on shelf %");
    const { fingerprint } = (await t.pawl.deadLetters.groups())[0]!;
    const [first] = await t.pawl.deadLetters.list({ lifecycle: order, limit: 7 });
    await t.pawl.send(
      order,
      { id: (await t.pawl.deadLetters.list({ lifecycle: order })).at(-1)!.instance! },
      "discard",
    ); // One has gone on.
    expect(await t.pawl.deadLetters.preview("requeue", { fingerprint })).toMatchObject({
      letters: 4,
      outcomes: { requeued: 4 },
      sample: expect.arrayContaining([expect.objectContaining({ outcome: "requeued", origin: "packing" })]),
    });
    expect(await t.pawl.deadLetters.get(first!.id)).toMatchObject({ status: "open" });
    const begun = await t.pawl.deadLetters.requeueMany({ fingerprint }, { actor: "ada", reason: "new boxes came" });
    expect(begun).toMatchObject({ status: "running", items: 4, done: 0, actor: "ada", filter: { fingerprint } });
    await fail(t, 1); // What dies later is not part of it.
    const ended = await t.pawl.operations.run(begun.id);
    expect(ended).toMatchObject({ status: "done", done: 4, outcomes: { requeued: 4 }, refusals: [] });
    const requeued = await t.pawl.deadLetters.list({ lifecycle: order, status: "requeued" });
    expect(requeued).toHaveLength(4);
    for (const one of requeued) expect(one).toMatchObject({ decidedBy: "ada", decision: "new boxes came" });
    world.isMended = true;
    await t.work();
    expect(await t.pawl.inspect.counts(order)).toMatchObject({ sent: 4 });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toHaveLength(3);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("what cannot be requeued is counted by what stands in the way; a discard closes all", async () => {
    await using t = await store.open({ lifecycles: [order, email] });
    await fail(t, 2);
    await t.pawl.enqueue(email);
    await t.work();
    await using other = await openSecondProcess(t, [order]);
    expect(await other.pawl.deadLetters.preview("requeue", { all: true })).toMatchObject({
      letters: 3,
      outcomes: { requeued: 2, lifecycle_unknown: 1 },
      sample: expect.arrayContaining([
        expect.objectContaining({ lifecycle: "email", outcome: "lifecycle_unknown", note: expect.any(String) }),
      ]),
    });
    // A process carries out what it has the definitions for, and leaves the rest to others.
    const { id } = await other.pawl.deadLetters.requeueMany({ all: true }, { reason: "again" });
    while (await runOneBatch(other.kernel, operationDeciders(other.kernel, new Verbs(other.kernel))));
    expect(await t.pawl.operations.get(id)).toMatchObject({ status: "running", done: 2, outcomes: { requeued: 2 } });
    expect(await t.pawl.operations.run(id)).toMatchObject({ status: "done", outcomes: { requeued: 3 } });
    await t.work();
    const discarded = await t.pawl.deadLetters.discardMany({ all: true }, { actor: "ada" });
    const [decided] = await t.pawl.deadLetters.list({ lifecycle: email });
    await t.pawl.deadLetters.requeue(decided!.id);
    expect(await t.pawl.operations.run(discarded.id)).toMatchObject({
      outcomes: { discarded: 2, already_decided: 1 },
      refusals: [{ id: decided!.id, note: expect.stringContaining("already requeued by another call") }],
    });
    expect(await t.pawl.operations.list()).toMatchObject([{ id: discarded.id }, { id }]);
  });

  test("an operation keeps its pace over all processes, and can be aborted", async () => {
    await using t = await open();
    await fail(t, 7);
    const { id } = await t.pawl.deadLetters.discardMany({ origin: "packing" }, { rate: 2 });
    expect(await round(t)).toBe(true);
    expect(await round(t)).toBe(false); // Two in this second.
    expect(await t.pawl.operations.get(id)).toMatchObject({ done: 2, rate: 2 });
    await t.advance("1s");
    expect([await round(t), await round(t)]).toEqual([true, false]);
    await t.advance("1h"); // What was not done meanwhile is not made up for.
    expect([await round(t), await round(t)]).toEqual([true, false]);
    expect(await t.pawl.operations.abort(id, { actor: "ada", reason: "wrong ones" })).toMatchObject({
      status: "aborted",
      done: 6,
      abortedBy: "ada",
      abortReason: "wrong ones",
    });
    await t.advance("1h");
    expect(await round(t)).toBe(false);
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toHaveLength(1);
    await expect(t.pawl.operations.abort(id)).rejects.toMatchObject({ code: "operation_ended" });
  });

  test("a process that dies in the middle leaves an operation that another goes on with, and nothing is counted twice", async () => {
    await using t = await open();
    await fail(t, 5);
    const { id } = await t.pawl.deadLetters.requeueMany({ all: true }, { actor: "ada", reason: "again" });
    // It decides about its first batch, and dies before it has written that down.
    const dying = {
      ...t.kernel,
      db: {
        ...t.kernel.db,
        transaction: t.kernel.db.transaction.bind(t.kernel.db),
        rows: (async (statement: { text: string }) => {
          if (statement.text.includes("left_over as materialized")) throw new Error("killed");
          return t.kernel.db.rows(statement as never);
        }) as typeof t.kernel.db.rows,
      },
    };
    await expect(runOneBatch(dying, operationDeciders(dying, new Verbs(dying)))).rejects.toThrow("killed");
    expect(await t.pawl.operations.get(id)).toMatchObject({ done: 0 });
    expect(await t.pawl.deadLetters.list({ lifecycle: order, status: "requeued" })).toHaveLength(5);
    expect(await round(t)).toBe(false); // It may still be alive.
    await t.advance("61s");
    await using other = await openSecondProcess(t, [order]);
    expect(await runOneBatch(other.kernel, operationDeciders(other.kernel, new Verbs(other.kernel)))).toBe(true);
    expect(await t.pawl.operations.get(id)).toMatchObject({ status: "done", done: 5, outcomes: { requeued: 5 } });
    for (const one of await t.pawl.list(order)) expect(await t.pawl.journal(order, one)).toHaveLength(3);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test.runIf(store.kind === "postgres")(
    "several processes carry on together, and each letter is decided once",
    async () => {
      await using t = await open();
      await fail(t, 250);
      const { id } = await t.pawl.deadLetters.requeueMany({ all: true }, { actor: "ada" });
      await using other = await openSecondProcess(t, [order]);
      const [one, two, three] = await Promise.all(
        [t, other, t].map(({ pawl }) => pawl.operations.run(id, { signal: AbortSignal.timeout(20_000) })),
      );
      expect(one).toMatchObject({ status: "done", outcomes: { requeued: 250 } });
      expect([two, three]).toEqual([one, one]);
      for (const each of await t.pawl.list(order, { limit: 1_000 })) expect(each.version).toBe(3);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    },
  );

  test("effects, messages and instances are decided about together", async () => {
    const broker = memoryBroker();
    const outbox = { brokers: [broker], retry: { maxAttempts: 1, backoff: constant("1s") } };
    await using t = await store.open({ lifecycles: [order, parcel], outbox });
    const refusing = vi.spyOn(broker, "publish").mockRejectedValue(new PermanentError("too large"));
    await t.pawl.startMany(
      parcel,
      [1, 2].map((n) => ({ key: `p${n}` })),
    );
    await fail(t, 2);
    await t.relay();
    refusing.mockRestore();
    expect(await t.pawl.deadLetters.groups()).toMatchObject([{ letters: 2 }, { letters: 2 }]);
    const { id } = await t.pawl.deadLetters.requeueMany({ all: true });
    expect(await t.pawl.operations.run(id)).toMatchObject({ outcomes: { requeued: 4 } });
    expect((await t.relay()).map((one) => one.what)).toEqual(["published", "published"]);
    const [letter] = await t.pawl.deadLetters.list({ status: "requeued" });
    expect(letter).toMatchObject({ decision: `requeue ${id}`, decidedBy: null });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a dead letter is a ticket: somebody takes it, a decision resolves it, and a function is told until it hears", async () => {
    const heard: string[] = [];
    let isDeaf = true;
    const onTicket = ({ id }: { id: string }) => {
      if (isDeaf) throw new Error("the desk is closed");
      heard.push(id);
    };
    await using t = await open({ deadLetters: { onTicket } });
    await fail(t, 3);
    const [first, second, third] = (await t.pawl.deadLetters.tickets.list()) as [Ticket, Ticket, Ticket];
    expect(first).toMatchObject({ status: "open", lifecycle: "order", origin: "packing", assignee: null });
    expect(await t.notifyTickets()).toBe(3);
    isDeaf = false;
    expect(await t.notifyTickets()).toBe(0);
    expect(await t.pawl.deadLetters.tickets.assign(first.id, { to: "ada" })).toMatchObject({
      status: "assigned",
      assignee: "ada",
    });
    await t.pawl.deadLetters.tickets.assign(first.id, { to: "ada" });
    await expect(t.pawl.deadLetters.tickets.assign(first.id, { to: "grace" })).rejects.toMatchObject({
      code: "ticket_assigned",
    });
    expect(await t.pawl.deadLetters.tickets.list({ status: "assigned", assignee: "ada" })).toMatchObject([
      { id: first.id },
    ]);
    await t.pawl.deadLetters.requeue(first.id, { actor: "ada", reason: "a new box" });
    expect(await t.pawl.deadLetters.tickets.list({ status: "resolved" })).toMatchObject([
      { id: first.id, resolvedBy: "ada", resolution: "a new box", resolvedAt: t.now() },
    ]);
    expect(await t.pawl.deadLetters.tickets.resolve(second.id, { actor: "grace", reason: "known" })).toMatchObject({
      status: "resolved",
      resolvedBy: "grace",
    });
    expect(await t.pawl.deadLetters.get(second.id)).toMatchObject({ status: "open" });
    await expect(t.pawl.deadLetters.tickets.resolve(second.id, { actor: "ada", reason: "x" })).rejects.toMatchObject({
      code: "ticket_assigned",
    });
    await t.advance("10s");
    expect(await t.notifyTickets()).toBe(1); // Nobody needs to hear of those that are resolved.
    expect(heard).toEqual([third.id]);
    await t.advance("1d");
    expect(await t.notifyTickets()).toBe(0);
  });

  test("bad input is refused, and nothing is changed", async () => {
    await using t = await open();
    await fail(t, 1);
    const { deadLetters, operations } = t.pawl;
    const nobody = "00000000-0000-7000-8000-000000000000";
    const refusals: [() => Promise<unknown>, string][] = [
      [() => deadLetters.requeueMany({}), "option_invalid"],
      [() => deadLetters.requeueMany({ all: true, origin: "packing" }), "option_invalid"],
      [() => deadLetters.requeueMany({ state: "packing" } as never), "option_invalid"],
      [() => deadLetters.requeueMany({ id: "o" }), "option_invalid"],
      [() => deadLetters.requeueMany({ id: [] }), "option_invalid"],
      [() => deadLetters.requeueMany({ kind: "job" as never }), "option_invalid"],
      [() => deadLetters.requeueMany({ from: "yesterday" as never }), "option_invalid"],
      [() => deadLetters.requeueMany({ all: true }, { rate: 0 }), "option_invalid"],
      [() => deadLetters.requeueMany({ all: true }, { actor: "" }), "option_invalid"],
      [() => deadLetters.discardMany({ all: true }, { restart: true } as never), "option_invalid"],
      [() => deadLetters.preview("delete" as never, { all: true }), "option_invalid"],
      [() => deadLetters.groups({ all: true }, { limit: 0 }), "option_invalid"],
      [() => operations.run(nobody), "operation_unknown"],
      [() => operations.abort(nobody), "operation_unknown"],
      [() => deadLetters.tickets.assign(nobody, { to: "ada" }), "dead_letter_unknown"],
      [() => deadLetters.tickets.assign(nobody, {} as never), "option_invalid"],
      [() => deadLetters.tickets.resolve(nobody, { actor: "ada" } as never), "option_invalid"],
      [() => deadLetters.tickets.list({ status: "lost" as never }), "option_invalid"],
      [() => deadLetters.archive(), "option_invalid"],
      [() => deadLetters.restore({ all: true }), "option_invalid"],
    ];
    for (const [refused, code] of refusals) await expect(refused(), String(refused)).rejects.toMatchObject({ code });
    expect(await operations.list()).toEqual([]);
    expect(await deadLetters.requeueMany({ id: nobody })).toMatchObject({ status: "done", items: 0 });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toHaveLength(1);
  });
});

test("a client without lifecycle values can do the same by name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-archive-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const archive = folderArchive(folder);
  await using t = await testPawl({ lifecycles: [order], deadLetters: { archive } });
  // biome-ignore lint/suspicious/noExplicitAny: it is JSON.
  const ask = async (verb: RouteName, args: Record<string, unknown> = {}): Promise<any> => callIn(t.pawl)(verb, args);
  await fail(t, 4);
  const [{ fingerprint }] = await ask("deadLetterGroups", { lifecycle: "order" });
  const from = new Date(0).toISOString();
  expect(await ask("previewDeadLetters", { decision: "discard", fingerprint, from })).toMatchObject({ letters: 4 });
  const [one, two] = await ask("tickets", { limit: 2 });
  await ask("assignTicket", { id: one.id, actor: "ada" });
  expect(await ask("tickets", { status: "assigned", assignee: "ada" })).toMatchObject([{ id: one.id }]);
  await ask("resolveTicket", { id: two.id, actor: "ada", reason: "known" });
  const begun = await ask("requeueDeadLetters", { id: [one.id, two.id], actor: "ada", rate: 1 });
  expect(await ask("runOperationBatch", { id: begun.id })).toMatchObject({ status: "running", done: 1 });
  expect(await ask("abortOperation", { id: begun.id, reason: "no" })).toMatchObject({ status: "aborted" });
  const { id } = await ask("discardDeadLetters", { because: "attempts_used_up", origin: "packing" });
  expect(await ask("runOperationBatch", { id })).toMatchObject({ outcomes: { discarded: 3 } });
  expect(await ask("operations", { limit: 1 })).toMatchObject([{ id }]);
  await t.advance("1h");
  expect(await ask("archiveDeadLetters", { olderThan: "1m" })).toEqual({ letters: 4, files: 1 });
  const [{ name }] = await ask("archives");
  expect(await ask("restoreDeadLetters", { id: [one.id] })).toMatchObject({ restored: 1 });
  expect(await ask("restoreDeadLetters", { file: [name] })).toMatchObject({ restored: 3, there: 1 });
  expect(await ask("restoreDeadLetters", { all: true })).toMatchObject({ restored: 0, there: 4 });
  await expect(ask("requeueDeadLetters", {})).rejects.toMatchObject({ code: "option_invalid" });
  await expect(ask("requeueDeadLetters", { all: true, state: "x" })).rejects.toMatchObject({ code: "option_invalid" });
});

type Ticket = Awaited<ReturnType<TestPawl["pawl"]["deadLetters"]["tickets"]["list"]>>[number];
