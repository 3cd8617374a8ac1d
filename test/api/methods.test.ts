import { crowd, isPawlError, job, lifecycle, queue } from "pawl";
import { memoryMarketplace, type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

const order = lifecycle("order", {
  initial: "open",
  events: {
    noted: z.object({ note: z.string().optional() }).optional(),
    because: z.object({ reason: z.string() }).optional(),
  },
  states: {
    open: { forever: true, on: { paid: "done", noted: {}, because: {} } },
    done: { final: "success" },
  },
});
const mail = job("mail", { run: () => {} });
const label = z.object({ total: z.number() });
const receipts = crowd("receipts", { label, marketplace: "here" });
const numbers = queue("q", { label });
const id = "01b8dd58-e200-7002-a9a7-a3b6b2816330";
const reason = "test";

/** As a program in JavaScript may call it. */
type Untyped = { readonly [name: string]: Untyped & ((...given: unknown[]) => unknown) };

type Call = (pawl: Untyped, stray: object) => unknown;

/** Every method with its options, called with one that it does not have; or why it has none. */
const methods: Readonly<Record<string, Readonly<Record<string, Call | string>>>> = {
  pawl: {
    start: (pawl, stray) => pawl.start!(order, { key: "a", ...stray }),
    tryStart: async (pawl, stray) => thrown(await pawl.tryStart!(order, { key: "a", ...stray })),
    startMany: (pawl, stray) => pawl.startMany!(order, [{ key: "a" }], stray),
    enqueue: (pawl, stray) => pawl.enqueue!(mail, undefined, stray),
    enqueueMany: (pawl, stray) => pawl.enqueueMany!(mail, [{}], stray),
    send: (pawl, stray) => pawl.send!(order, "a", "paid", stray),
    trySend: async (pawl, stray) => thrown(await pawl.trySend!(order, "a", "paid", stray)),
    sendMany: (pawl, stray) => pawl.sendMany!(order, [], stray),
    receive: (pawl, stray) => pawl.receive!(order, "a", "paid", { dedupeKey: "1", ...stray }),
    tryReceive: async (pawl, stray) => thrown(await pawl.tryReceive!(order, "a", "paid", { dedupeKey: "1", ...stray })),
    get: (pawl, stray) => pawl.get!(order, "a", stray),
    explain: "takes an instance alone",
    allowedEvents: (pawl, stray) => pawl.allowedEvents!(order, "a", stray),
    list: (pawl, stray) => pawl.list!(order, stray),
    children: (pawl, stray) => pawl.children!(order, "a", stray),
    wait: (pawl, stray) => pawl.wait!(order, "a", stray),
    journal: (pawl, stray) => pawl.journal!(order, "a", stray),
    history: (pawl, stray) => pawl.history!(order, "a", stray),
    lifecycleOf: "takes an id alone",
    transaction: "takes a function alone",
    on: "takes a name and a function alone",
    publish: (pawl, stray) => pawl.publish!("a", {}, { aggregate: { type: "a", id: "1" }, ...stray }),
    maintain: (pawl, stray) => pawl.maintain!(stray),
    work: (pawl, stray) => pawl.work!(stray),
    relay: (pawl, stray) => pawl.relay!({ brokers: [], ...stray }),
    close: "takes nothing",
    drain: "takes nothing",
    ping: "takes nothing",
  },
  jobs: {
    get: "takes an instance alone",
    list: (pawl, stray) => pawl.jobs!.list!(stray),
  },
  callbacks: {
    receiveError: (pawl, stray) =>
      pawl.callbacks!.receiveError!(order, "a", "paid", { message: "no" }, { dedupeKey: "1", ...stray }),
    receiveByToken: (pawl, stray) => pawl.callbacks!.receiveByToken!("a", {}, stray),
    list: (pawl, stray) => pawl.callbacks!.list!(stray),
    get: "takes an id alone",
    acceptLate: (pawl, stray) => pawl.callbacks!.acceptLate!(id, stray),
  },
  deadLetters: {
    list: (pawl, stray) => pawl.deadLetters!.list!(stray),
    get: "takes an id alone",
    requeue: (pawl, stray) => pawl.deadLetters!.requeue!(id, stray),
    discard: (pawl, stray) => pawl.deadLetters!.discard!(id, stray),
    groups: (pawl, stray) => pawl.deadLetters!.groups!({ all: true }, stray),
    preview: (pawl, stray) => pawl.deadLetters!.preview!("requeue", { all: true }, stray),
    requeueMany: (pawl, stray) => pawl.deadLetters!.requeueMany!({ all: true }, stray),
    discardMany: (pawl, stray) => pawl.deadLetters!.discardMany!({ all: true }, stray),
    archive: (pawl, stray) => pawl.deadLetters!.archive!(stray),
    archives: (pawl, stray) => pawl.deadLetters!.archives!(stray),
    restore: "has nothing to restore without an archive; its options are held in test/dead-letters",
  },
  "deadLetters.tickets": {
    list: (pawl, stray) => pawl.deadLetters!.tickets!.list!(stray),
    assign: (pawl, stray) => pawl.deadLetters!.tickets!.assign!(id, { to: "ada", ...stray }),
    resolve: (pawl, stray) => pawl.deadLetters!.tickets!.resolve!(id, { actor: "ada", reason, ...stray }),
  },
  operations: {
    send: (pawl, stray) => pawl.operations!.send!(order, { all: true }, "paid", stray),
    recover: (pawl, stray) => pawl.operations!.recover!(order, { all: true }, stray),
    restart: (pawl, stray) => pawl.operations!.restart!(order, { all: true }, stray),
    discard: (pawl, stray) => pawl.operations!.discard!(order, { all: true }, stray),
    preview: (pawl, stray) => pawl.operations!.preview!(order, { all: true }, { decision: "discard", ...stray }),
    export: (pawl, stray) => (pawl.operations!.export!(order, { all: true }, stray) as AsyncGenerator).next(),
    get: "takes an id alone",
    list: (pawl, stray) => pawl.operations!.list!(stray),
    runBatch: "takes an id alone",
    run: (pawl, stray) => pawl.operations!.run!(id, stray),
    abort: (pawl, stray) => pawl.operations!.abort!(id, stray),
  },
  schedules: {
    list: "takes nothing",
    pause: (pawl, stray) => pawl.schedules!.pause!("nightly", stray),
    resume: "takes a schedule alone",
    runNow: "takes a schedule alone",
  },
  breakers: {
    list: "takes nothing",
    history: (pawl, stray) => pawl.breakers!.history!("a", stray),
    force: (pawl, stray) => pawl.breakers!.force!("a", "open", { reason, ...stray }),
  },
  lanes: {
    pause: (pawl, stray) => pawl.lanes!.pause!(order, { reason, ...stray }),
    resume: (pawl, stray) => pawl.lanes!.resume!(order, stray),
    putLimit: (pawl, stray) => pawl.lanes!.putLimit!(mail, { limit: 1, ...stray }),
    list: (pawl, stray) => pawl.lanes!.list!(stray),
  },
  workers: { list: "takes nothing" },
  outbox: {
    status: "takes nothing",
    messages: (pawl, stray) => pawl.outbox!.messages!(stray),
    requeue: (pawl, stray) => pawl.outbox!.requeue!({ all: true, ...stray }),
    discard: (pawl, stray) => pawl.outbox!.discard!({ all: true, ...stray }),
  },
  people: {
    createQueue: "takes a definition, which is checked as one",
    updateQueue: "takes a definition, which is checked as one",
    activateQueue: "takes a queue alone",
    deactivateQueue: "takes a queue alone",
    queue: "takes a queue alone",
    queues: "takes nothing",
    queueStats: "takes nothing",
    upsertLabeler: (pawl, stray) => pawl.people!.upsertLabeler!({ id: "ada", ...stray }),
    labelers: "takes nothing",
    add: (pawl, stray) => pawl.people!.add!("q", { data: {} }, stray),
    addMany: (pawl, stray) => pawl.people!.addMany!("q", [], stray),
    next: "takes a queue and a labeler alone",
    start: (pawl, stray) => pawl.people!.start!(id, "ada", stray),
    submit: (pawl, stray) => pawl.people!.submit!(id, "ada", {}, stray),
    skip: (pawl, stray) => pawl.people!.skip!(id, "ada", stray),
    extend: (pawl, stray) => pawl.people!.extend!(id, "ada", stray),
    desk: (pawl, stray) => pawl.people!.desk!("ada", stray),
    deskWork: "takes an id and a labeler alone",
    draft: "takes an id and a labeler alone",
    saveDraft: "takes an id, a labeler and a value alone",
    assign: (pawl, stray) => pawl.people!.assign!(id, { to: "ada", actor: "lea", ...stray }),
    release: (pawl, stray) => pawl.people!.release!(id, { actor: "lea", ...stray }),
    checkExpired: "takes a queue alone",
    accept: (pawl, stray) => pawl.people!.accept!(id, { actor: "lea", ...stray }),
    reject: (pawl, stray) => pawl.people!.reject!(id, { actor: "lea", ...stray }),
    reopen: (pawl, stray) => pawl.people!.reopen!(id, { actor: "lea", ...stray }),
    close: (pawl, stray) => pawl.people!.close!(id, { actor: "lea", ...stray }),
    assignment: "takes an id alone",
    assignmentJournal: "takes an id alone",
    assignments: (pawl, stray) => pawl.people!.assignments!("q", stray),
    sample: "takes a sample alone",
    sampleJournal: "takes a sample alone",
    samples: (pawl, stray) => pawl.people!.samples!("q", stray),
    labels: (pawl, stray) => pawl.people!.labels!("q", stray),
    metrics: (pawl, stray) => pawl.people!.metrics!("q", stray),
    metricsByLabeler: (pawl, stray) => pawl.people!.metricsByLabeler!("q", stray),
    metricsByHour: (pawl, stray) => pawl.people!.metricsByHour!("q", stray),
    importSamples: (pawl, stray) => pawl.people!.importSamples!("q", [], stray),
    exportLabels: (pawl, stray) => (pawl.people!.exportLabels!("q", stray) as AsyncGenerator).next(),
    quality: "takes a queue alone",
  },
  crowd: {
    list: "takes nothing",
    counts: "takes a crowd alone",
    ask: (pawl, stray) => pawl.crowd!.ask!(receipts, { content: {}, ...stray }),
    jobs: (pawl, stray) => pawl.crowd!.jobs!(receipts, stray),
    job: "takes a job alone",
    submissions: (pawl, stray) => pawl.crowd!.submissions!(receipts, stray),
    submission: "takes an id alone",
    approve: (pawl, stray) => pawl.crowd!.approve!(id, stray),
    reject: (pawl, stray) => pawl.crowd!.reject!(id, { feedback: "no", ...stray }),
    retry: (pawl, stray) => pawl.crowd!.retry!(id, stray),
    sync: (pawl, stray) => pawl.crowd!.sync!(id, stray),
    handleNotification: "takes a marketplace and a posting alone",
    close: (pawl, stray) => pawl.crowd!.close!(id, stray),
    discard: (pawl, stray) => pawl.crowd!.discard!(id, stray),
    bonus: (pawl, stray) => pawl.crowd!.bonus!(id, { amount: "1", reason, ...stray }),
    balance: "takes a marketplace alone",
    reconcile: (pawl, stray) => pawl.crowd!.reconcile!(stray),
  },
  access: {
    createToken: (pawl, stray) => pawl.access!.createToken!({ name: "a", role: "viewer", ...stray }),
    tokens: "takes nothing",
    revokeToken: (pawl, stray) => pawl.access!.revokeToken!(id, stray),
    sessions: "takes nothing",
    revokeSession: (pawl, stray) => pawl.access!.revokeSession!(id, stray),
    authenticateToken: "takes a secret alone",
    createSignInCode: (pawl, stray) => pawl.access!.createSignInCode!({ name: "a", role: "viewer", ...stray }),
    signIn: "takes a secret alone",
    signInByCode: "takes a code alone",
    authenticateSession: "takes a secret alone",
    signOut: "takes a secret alone",
  },
  inspect: {
    counts: "takes a lifecycle alone",
    count: (pawl, stray) => pawl.inspect!.count!(order, stray),
    overview: "takes nothing",
    stuck: (pawl, stray) => pawl.inspect!.stuck!(stray),
    search: (pawl, stray) => pawl.inspect!.search!("a", stray),
    oldest: (pawl, stray) => pawl.inspect!.oldest!(order, "open", stray),
    metrics: "takes nothing",
    verify: (pawl, stray) => pawl.inspect!.verify!(stray),
  },
};

const values = ["lifecycles", "internalLifecycles"];

let t: TestPawl;
let untyped: Untyped;
beforeAll(async () => {
  const marketplaces = { here: memoryMarketplace() };
  t = await testPawl({ lifecycles: [order, mail], crowds: [receipts], queues: [numbers], marketplaces });
  untyped = t.pawl as unknown as Untyped;
});
afterAll(() => t[Symbol.asyncDispose]());

const called = Object.entries(methods).flatMap(([group, calls]) =>
  Object.entries(calls).flatMap(([name, call]) =>
    typeof call === "string" ? [] : [[`${group}.${name}`, call] as const],
  ),
);

test.each(called)("%s refuses an option that it does not have", async (_name, call) => {
  const error = await (async () => call(untyped, { xyzzy: 1 }))().catch((one: unknown) => one);
  expect(error).toMatchObject({ code: "option_invalid", message: expect.stringContaining("`xyzzy`") });
});

describe("what is to be seen of a Pawl at run time", () => {
  test("is its groups, and of each the methods that stand above", () => {
    const groups = Object.keys(methods).filter((name) => name !== "pawl");
    const seen = (thing: object) => {
      const names = Object.getOwnPropertyNames(Object.getPrototypeOf(thing)).filter((name) => name !== "constructor");
      return [...names, ...Object.getOwnPropertyNames(thing)].sort();
    };
    const { pawl, ...rest } = methods;
    const top = groups.filter((name) => !name.includes("."));
    expect(seen(t.pawl)).toEqual([...Object.keys(pawl!), ...values, ...top].sort());
    for (const [name, calls] of Object.entries(rest)) {
      const group = name.split(".").reduce<Untyped>((one, part) => one[part]!, untyped);
      const within = groups.filter((one) => one.startsWith(`${name}.`)).map((one) => one.split(".")[1]!);
      expect([name, seen(group)]).toEqual([name, [...Object.keys(calls), ...within].sort()]);
    }
  });
});

describe("arguments that would be lost", () => {
  test("a transaction as a third argument of `start` starts nothing outside it", async () => {
    const lost = { code: "option_invalid", message: expect.stringContaining("start(lifecycle, { key, data, tx") };
    await t.pawl.transaction(async (tx) => {
      await expect((async () => untyped.start!(order, { key: "lost" }, { tx }))()).rejects.toMatchObject(lost);
    });
    expect(await t.pawl.get(order, "lost")).toBeUndefined();
  });

  test("options in the place of the payload of `fail` are no payload", async () => {
    await t.pawl.start(order, { key: "f" });
    const lost = { code: "option_invalid", message: expect.stringContaining('"fail", undefined, options)') };
    await expect((async () => untyped.send!(order, "f", "fail", { actor: "ada" }))()).rejects.toMatchObject(lost);
    expect(await t.pawl.get(order, "f")).toMatchObject({ state: "open" });
    await t.pawl.send(order, "f", "fail", undefined, { actor: "ada" });
    expect((await t.pawl.journal(order, "f")).find(({ event }) => event === "fail")).toMatchObject({ actor: "ada" });
  });

  test("options in the place of an optional payload are no payload", async () => {
    await t.pawl.start(order, { key: "o" });
    const refused = { code: "option_invalid", message: expect.stringContaining("in the place of its payload") };
    const noted = (...given: unknown[]) => (async () => untyped.send!(order, "o", "noted", ...given))();
    await expect(noted({ actor: "ada" })).rejects.toMatchObject(refused);
    await expect(noted({ idempotencyKey: "1", reason: "late" })).rejects.toMatchObject(refused);
    const received = (async () => untyped.receive!(order, "o", "noted", { dedupeKey: "1" }))();
    await expect(received).rejects.toMatchObject(refused);
    expect((await t.pawl.journal(order, "o")).map(({ event }) => event)).toEqual(["start"]);

    await t.pawl.send(order, "o", "noted", undefined, { actor: "ada" });
    await t.pawl.send(order, "o", "noted", { note: "a" });
    await t.pawl.send(order, "o", "because", { reason: "a reason of the payload" });
    expect((await t.pawl.journal(order, "o")).slice(1)).toMatchObject([
      { event: "noted", actor: "ada" },
      { event: "noted", actor: null, payload: { note: "a" } },
      { event: "because", payload: { reason: "a reason of the payload" } },
    ]);
  });

  test("options in the place of the payload of a job enqueue nothing", async () => {
    const refused = { code: "option_invalid", message: expect.stringContaining("enqueue(job, undefined, options)") };
    for (const options of [{ after: "10m" }, { key: "a", priority: 1 }])
      await expect((async () => untyped.enqueue!(mail, options))()).rejects.toMatchObject(refused);
    expect(Object.values(await t.pawl.inspect.counts(mail)).filter((count) => count !== 0)).toEqual([]);
    await t.pawl.enqueue(mail, undefined, { after: "10m" });
  });

  test("a signal that is none", async () => {
    const wait = (pawl: Untyped) => pawl.wait!(order, "f", { signal: {} });
    await expect((async () => wait(untyped))()).rejects.toMatchObject({ code: "option_invalid" });
  });
});

describe("refusals as values", () => {
  test("of `tryStart`: the instance, or what is wrong with the start", async () => {
    expect(await t.pawl.tryStart(order, { key: "try" })).toMatchObject({ ok: true, instance: { created: true } });
    expect(await t.pawl.tryStart(order, { key: "" })).toMatchObject({ ok: false, error: { code: "key_invalid" } });
  });

  test("of `tryReceive`: the answer to the callback, or why it was refused", async () => {
    await t.pawl.start(order, { key: "r" });
    const given = { dedupeKey: "1" };
    expect(await t.pawl.tryReceive(order, "r", "paid", given)).toMatchObject({
      ok: true,
      callback: { accepted: true },
    });
    const refused = await t.pawl.tryReceive(order, "nowhere", "paid", given);
    expect(refused).toMatchObject({ ok: false, error: { code: "instance_unknown" } });
  });
});

function thrown(result: unknown): never {
  const { error } = result as { error?: unknown };
  throw isPawlError(error) ? error : new Error("It was not refused.");
}
