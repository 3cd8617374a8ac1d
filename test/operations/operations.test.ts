import { job, lifecycle, PermanentError } from "pawl";
import { testPawl } from "pawl/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { operationDeciders } from "../../src/api/open/operation-deciders.ts";
import { callIn } from "../../src/cli/transport/reach.ts";
import type { RouteName } from "../../src/http/routes/routes.ts";
import type { Kernel } from "../../src/kernel/kernel.ts";
import { Verbs } from "../../src/kernel/verbs.ts";
import { runOneBatch } from "../../src/operations/run-operations.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";

const data = z.object({ n: z.number(), note: z.string().optional() });
const claim = lifecycle("claim", {
  data,
  events: { reviewed: z.object({ score: z.number() }), closed: z.undefined() },
  initial: "open",
  states: {
    open: {
      forever: true,
      on: {
        reviewed: { to: "reviewed", guard: ({ data }) => data.n !== 13 || "thirteen is never reviewed" },
        closed: "closed",
      },
    },
    reviewed: { forever: true, on: { closed: "closed" } },
    closed: { final: "success" },
  },
});
/** Fails until its data says otherwise. */
const shipment = lifecycle("shipment", {
  data: z.object({ address: z.string() }),
  initial: "shipping",
  states: {
    shipping: {
      run: ({ data }) => {
        if (data.address === "nowhere") throw new PermanentError("no such address");
      },
      on: { shipped: "shipped" },
    },
    shipped: { final: "success" },
  },
});
const mail = job("mail", { run: () => Promise.reject(new PermanentError("no such mailbox")) });

const round = (kernel: Kernel) => runOneBatch(kernel, operationDeciders(kernel, new Verbs(kernel)));
const claims = (count: number) => Array.from({ length: count }, (_, n) => ({ key: `c${n}`, data: { n } }));

eachStore((store) => {
  const open = () => store.open({ lifecycles: [claim, shipment, mail] });

  test("an event is sent to all that match, after a preview that says which would refuse it and why", async () => {
    await using t = await open();
    await t.pawl.startMany(claim, claims(15));
    await t.pawl.send(claim, "c0", "closed");
    const { operations } = t.pawl;
    const wanted = { decision: "send", event: "reviewed", payload: { score: 7 } } as const;
    const preview = await operations.preview(claim, { state: "open" }, wanted);
    expect(preview).toMatchObject({ instances: 14, outcomes: { sent: 13, transition_refused: 1 } });
    expect(preview.sample).toContainEqual({
      id: expect.any(String),
      key: "c13",
      state: "open",
      outcome: "transition_refused",
      note: expect.stringContaining("thirteen is never reviewed"),
    });
    expect(await t.pawl.list(claim, { state: "reviewed" })).toEqual([]);
    const by = { actor: "ada", reason: "the term has ended" };
    const begun = await operations.send(claim, { state: "open" }, "reviewed", { score: 7 }, by);
    expect(begun).toMatchObject({
      subject: "instances",
      decision: "send",
      event: "reviewed",
      filter: { lifecycle: "claim", state: "open" },
      items: 14,
      done: 0,
      status: "running",
      ...by,
    });
    await t.pawl.start(claim, { key: "later", data: { n: 1 } }); // It is not part of it.
    const ended = await operations.run(begun.id);
    expect(ended).toMatchObject({ status: "done", outcomes: { sent: 13, transition_refused: 1 } });
    expect(ended.refusals).toMatchObject([
      { outcome: "transition_refused", note: expect.stringContaining("thirteen") },
    ]);
    expect(await t.pawl.get(claim, "later")).toMatchObject({ state: "open" });
    const [, move] = await t.pawl.journal(claim, "c1");
    expect(move).toMatchObject({ event: "reviewed", payload: { score: 7 }, ...by });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an instance that has left its state since it was listed is left alone", async () => {
    await using t = await open();
    await t.pawl.startMany(claim, claims(3));
    const { id } = await t.pawl.operations.send(claim, { all: true }, "closed");
    // In `reviewed`, the event would be allowed as well.
    await t.pawl.send(claim, "c1", "reviewed", { score: 1 });
    const ended = await t.pawl.operations.run(id);
    expect(ended).toMatchObject({ outcomes: { sent: 2, transition_refused: 1 } });
    expect(ended.refusals[0]!.note).toContain("earlier visit");
    expect(await t.pawl.get(claim, "c1")).toMatchObject({ state: "reviewed" });
  });

  test("failed instances recover where they failed with changed data, jobs start over, and letters are decided with them", async () => {
    await using t = await open();
    await t.pawl.startMany(shipment, [{ data: { address: "nowhere" } }, { data: { address: "nowhere" } }]);
    await t.pawl.enqueue(mail);
    await t.work();
    const failed = { state: "failed", failure: "permanent_error" } as const;
    expect(await t.pawl.list(shipment, failed)).toHaveLength(2);
    const options = { data: { address: "Elm 3" }, actor: "ada", reason: "moved house" };
    expect(
      await t.pawl.operations.preview(shipment, failed, { decision: "recover", data: { address: 3 } }),
    ).toMatchObject({ outcomes: { data_invalid: 2 } });
    const { id } = await t.pawl.operations.recover(shipment, failed, options);
    expect(await t.pawl.operations.run(id)).toMatchObject({ outcomes: { recovered: 2 } });
    const jobs = await t.pawl.operations.recover(mail, { all: true });
    expect(await t.pawl.operations.run(jobs.id)).toMatchObject({ outcomes: { recovered: 1 } });
    await t.work();
    for (const one of await t.pawl.list(shipment))
      expect(one).toMatchObject({ state: "shipped", data: { address: "Elm 3" } });
    expect(await t.pawl.deadLetters.list({ lifecycle: shipment })).toEqual([]);
    const [letter] = await t.pawl.deadLetters.list({ lifecycle: shipment, status: "requeued" });
    expect(letter).toMatchObject({ decidedBy: "ada", decision: "moved house" });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("many are restarted and discarded; keys of the data are removed with undefined", async () => {
    await using t = await open();
    await t.pawl.startMany(claim, [{ key: "a", data: { n: 1, note: "x" } }, ...claims(2)]);
    await t.pawl.send(claim, "a", "fail");
    const { id } = await t.pawl.operations.restart(claim, { state: "failed" }, { data: { n: 2, note: undefined } });
    expect(await t.pawl.operations.run(id)).toMatchObject({ outcomes: { restarted: 1 } });
    expect(await t.pawl.get(claim, "a")).toMatchObject({ state: "open", data: { n: 2 } });
    expect((await t.pawl.get(claim, "a"))!.data).not.toHaveProperty("note");
    const [one, two] = await t.pawl.list(claim);
    const discard = await t.pawl.operations.discard(claim, { id: [one!.id, two!.id] }, { rate: 1 });
    expect([await round(t.kernel), await round(t.kernel)]).toEqual([true, false]);
    await t.advance("1s");
    expect(await t.pawl.operations.run(discard.id)).toMatchObject({ status: "done", outcomes: { discarded: 2 } });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a process that dies in the middle leaves an operation that another goes on with: each takes the event once", async () => {
    await using t = await open();
    await t.pawl.startMany(
      shipment,
      Array.from({ length: 5 }, () => ({ data: { address: "nowhere" } })),
    );
    await t.work();
    const patch = { data: { address: "Elm 3" }, reason: "again" };
    const { id } = await t.pawl.operations.recover(shipment, { state: "failed" }, patch);
    // It decides its first batch, and dies before it has written that down.
    const dying: Kernel = {
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
    await expect(round(dying)).rejects.toThrow("killed");
    expect(await t.pawl.operations.get(id)).toMatchObject({ done: 0 });
    await t.work(); // They have moved on: the state in which they were listed is over.
    await t.advance("61s");
    await using other = await openSecondProcess(t, [claim, shipment, mail]);
    expect(await round(other.kernel)).toBe(true);
    expect(await t.pawl.operations.get(id)).toMatchObject({ status: "done", outcomes: { recovered: 5 } });
    for (const one of await t.pawl.list(shipment)) {
      const events = (await t.pawl.journal(shipment, one)).map((move) => move.event);
      expect(events.filter((event) => event === "recover")).toHaveLength(1);
    }
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an aborted operation begins nothing more, and an export reads what matches, page by page", async () => {
    await using t = await open();
    await t.pawl.startMany(claim, claims(450));
    const { id } = await t.pawl.operations.discard(claim, { state: "open" }, { actor: "ada" });
    await t.pawl.operations.runBatch(id);
    expect(await t.pawl.operations.abort(id)).toMatchObject({ status: "aborted", done: 100 });
    expect(await round(t.kernel)).toBe(false);
    const exported: number[] = [];
    for await (const one of t.pawl.operations.export(claim, { state: "open" })) exported.push(one.data.n);
    expect(exported).toEqual(Array.from({ length: 350 }, (_, n) => n + 100));
  });

  test.runIf(store.kind === "postgres")(
    "several processes carry on together, and each instance moves once",
    async () => {
      await using t = await open();
      await t.pawl.startMany(
        claim,
        claims(250).map(({ key }) => ({ key, data: { n: 1 } })),
      );
      const { id } = await t.pawl.operations.send(claim, { all: true }, "reviewed", { score: 1 });
      await using other = await openSecondProcess(t, [claim, shipment, mail]);
      const signal = AbortSignal.timeout(20_000);
      const [one, two] = await Promise.all([t, other].map(({ pawl }) => pawl.operations.run(id, { signal })));
      expect(one).toMatchObject({ status: "done", outcomes: { sent: 250 } });
      expect(two).toEqual(one);
      for (const each of await t.pawl.list(claim, { limit: 1_000 })) expect(each.version).toBe(2);
    },
  );

  test("bad input is refused, and nothing is changed", async () => {
    await using t = await open();
    await t.pawl.start(claim, { key: "a", data: { n: 1 } });
    const { operations } = t.pawl;
    const refusals: [() => Promise<unknown>, string][] = [
      [() => operations.discard(claim, {}), "option_invalid"],
      [() => operations.discard(claim, { state: undefined }), "option_invalid"],
      [() => operations.discard(claim, { all: true, state: "open" }), "option_invalid"],
      [() => operations.discard(claim, { state: "opne" } as never), "option_invalid"],
      [() => operations.discard(claim, { kind: "instance" } as never), "option_invalid"],
      [() => operations.discard(claim, { id: [] }), "option_invalid"],
      [() => operations.discard(claim, { id: "c" }), "option_invalid"],
      [() => operations.discard(claim, { olderThan: "yesterday" as never }), "option_invalid"],
      [() => operations.discard(claim, { all: true }, { rate: 0 }), "option_invalid"],
      [() => operations.discard(claim, { all: true }, { data: {} } as never), "option_invalid"],
      [() => operations.recover(claim, { all: true }, { data: [] as never }), "option_invalid"],
      [() => operations.recover(claim, { all: true }, { data: { at: Number.NaN } }), "value_not_serializable"],
      [() => operations.send(claim, { all: true }, "lost" as never), "event_unknown"],
      [() => operations.send(claim, { all: true }, "reviewed", { score: "7" } as never), "payload_invalid"],
      [() => operations.send(claim, { all: true }, "fail", { actor: "ada" } as never), "option_invalid"],
      [() => operations.preview(claim, { all: true }, { decision: "requeue" } as never), "option_invalid"],
      [() => operations.discard({ name: "lost" } as never, { all: true }), "lifecycle_unknown"],
    ];
    for (const [refused, code] of refusals) await expect(refused(), String(refused)).rejects.toMatchObject({ code });
    await expect(operations.export(claim, {}).next()).rejects.toMatchObject({ code: "option_invalid" });
    expect(await operations.list()).toEqual([]);
    expect(await operations.discard(claim, { state: "closed" })).toMatchObject({ status: "done", items: 0 });
    expect(await t.pawl.get(claim, "a")).toMatchObject({ state: "open", version: 1 });
  });
});

test("a client without lifecycle values can do the same by name", async () => {
  await using t = await testPawl({ lifecycles: [claim, shipment] });
  // biome-ignore lint/suspicious/noExplicitAny: it is JSON.
  const ask = async (verb: RouteName, args: Record<string, unknown>): Promise<any> => callIn(t.pawl)(verb, args);
  await t.pawl.startMany(claim, claims(4));
  const lifecycle = "claim";
  const payload = { score: 7 };
  const wanted = { lifecycle, state: ["open"], event: "reviewed", payload };
  expect(await ask("previewOperation", { ...wanted, olderThan: "0s", decision: "send" })).toMatchObject({
    outcomes: { sent: 4 },
  });
  const sent = await ask("sendToInstances", { ...wanted, actor: "ada", rate: 2 });
  expect(sent).toMatchObject({ actor: "ada", rate: 2, items: 4, event: "reviewed" });
  expect(await ask("runOperationBatch", { id: sent.id })).toMatchObject({ done: 2, outcomes: { sent: 2 } });
  expect(await ask("abortOperation", { id: sent.id })).toMatchObject({ status: "aborted" });
  expect(await ask("exportInstances", { lifecycle, state: ["reviewed"], limit: 1 })).toMatchObject([{ key: "c0" }]);
  const discarded = await ask("discardInstances", { lifecycle, all: true });
  expect(await ask("runOperationBatch", { id: discarded.id })).toMatchObject({ outcomes: { discarded: 4 } });
  await ask("restartInstances", { lifecycle, state: ["discarded"], reason: "again" });
  await ask("recoverInstances", { lifecycle, state: ["failed"], data: { n: 1 } });
  await expect(ask("discardInstances", { lifecycle })).rejects.toMatchObject({ code: "option_invalid" });
  await expect(ask("discardInstances", { lifecycle: "lost", all: true })).rejects.toMatchObject({
    code: "lifecycle_unknown",
  });
});
