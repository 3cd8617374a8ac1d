import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Alert, type BrokerDeadMessage, type DeadLetterArchive, folderArchive, job } from "pawl";
import { s3Archive } from "pawl/s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storeBrokerDeadLetter } from "../../src/dead-letters/broker-dead-letters.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { type S3Server, s3Keys, startS3 } from "../setup/s3-server.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";
import { fail, order, world } from "./orders.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-archive-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let folders = 0;
const newFolder = () => join(folder, String(++folders));

/** An archive in memory that does as it is told. */
function unreliable() {
  const files = new Map<string, Buffer>();
  const archive = {
    name: "unreliable",
    files,
    mood: "good" as "good" | "down" | "forgetful",
    write: async (name: string, content: Buffer): Promise<void> => {
      if (archive.mood === "down") throw new Error("no such bucket");
      if (archive.mood === "good") files.set(name, content);
    },
    async read(name: string) {
      const found = files.get(name);
      if (found === undefined) throw new Error("no such file");
      return found;
    },
    list: async () => [...files.keys()],
  };
  return archive satisfies DeadLetterArchive;
}

const died: BrokerDeadMessage = {
  broker: "rabbitmq",
  graveyard: "orders.dlq",
  id: undefined,
  reason: "rejected",
  queue: "orders.callback",
  exchange: undefined,
  routingKey: undefined,
  deaths: 1,
  diedAt: undefined,
  headers: {},
  properties: {},
  body: Buffer.from("{"),
  redelivered: false,
};

/** Keeps the alerts that are not about an instance. */
function listening() {
  const heard: Alert[] = [];
  const send = (alert: Alert) => {
    if (alert.kind !== "instance_failed") heard.push(alert);
  };
  return { heard, alerts: [{ name: "kept", send }] };
}

eachStore((store) => {
  test("R71 after seven days or ten thousand entries the oldest are archived and then deleted, and over a hundred a day are told once", async () => {
    const { heard, alerts } = listening();
    const path = newFolder();
    const deadLetters = { archive: folderArchive(path), maxRetained: 6, alertOver: 4 };
    await using t = await store.open({ lifecycles: [order], deadLetters, alerts });
    const keep = async () => {
      await t.advance("1m");
      return t.archiveDeadLetters();
    };
    await fail(t, 4);
    expect(await keep()).toBe(0);
    await t.deliverAlerts();
    expect(heard).toEqual([]);
    await fail(t, 3);
    const [first] = (await t.pawl.deadLetters.list({ lifecycle: order })).reverse();
    expect(await keep(), "seven are one more than six").toBe(1);
    await keep();
    await t.deliverAlerts();
    expect(heard).toMatchObject([
      { kind: "many_dead_letters", cause: "dead_letters:2030-01-01", details: { over: 4 } },
    ]);
    expect(await t.pawl.deadLetters.get(first!.id)).toBeUndefined();
    await t.advance("1d");
    await fail(t, 1);
    await keep();
    await t.advance("6d");
    expect(await keep(), "those of the first day are seven days old").toBe(5);
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toHaveLength(1);
    await t.deliverAlerts();
    expect(heard).toHaveLength(1);
    const files = await t.pawl.deadLetters.archives();
    expect(files.map((one) => one.letters).sort()).toEqual([1, 1, 5]);
    for (const { name, sha256, bytes } of files) {
      const content = readFileSync(join(path, name));
      expect([createHash("sha256").update(content).digest("hex"), content.length]).toEqual([sha256, bytes]);
      expect(name).toContain(sha256);
    }
    const lines = gunzipSync(readFileSync(join(path, files.at(-1)!.name)))
      .toString()
      .trim()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { id: first!.id, status: "open", origin: "packing", error: { message: "box 0 is broken" } },
    ]);
    expect(readdirSync(path, { recursive: true }).filter((name) => String(name).endsWith(".tmp"))).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("R71 A61 a callback that died and the instance that failed without it count as one towards the alert", async () => {
    const { heard, alerts } = listening();
    await using t = await store.open({ lifecycles: [order], deadLetters: { alertOver: 3 }, alerts });
    const count = async () => {
      await t.advance("1m");
      await t.archiveDeadLetters();
      await t.deliverAlerts();
      return heard.map(({ kind }) => kind);
    };
    const bury = (id: string, instance: string) =>
      storeBrokerDeadLetter(t.kernel, {
        ...died,
        id,
        headers: { "aggregate-type": "order", "aggregate-id": instance },
      });
    await fail(t, 2);
    for (const [index, { instance }] of (await t.pawl.deadLetters.list({ lifecycle: order })).entries())
      await bury(`m${index}`, instance!);
    expect(await t.pawl.deadLetters.list()).toHaveLength(4);
    expect(await count(), "two orders").toEqual([]);
    const { id } = await t.pawl.start(order, { data: { fault: "none", n: 0 } });
    await bury("m2", id);
    expect(await count(), "two orders, and a callback of one that is not lost").toEqual([]);
    await bury("m3", id);
    expect(await count(), "two callbacks are two").toEqual(["many_dead_letters"]);
  });

  // Ten thousand rows are no matter for PostgreSQL.
  test.runIf(store.kind === "postgres")(
    "R71 unless told otherwise it is 10,000 that are kept, and more than 100 a day that are told",
    async () => {
      const { heard, alerts } = listening();
      await using t = await store.open({ lifecycles: [order], deadLetters: { archive: unreliable() }, alerts });
      const write = (from: number, to: number) =>
        t.db.script(`
        insert into pawl.dead_letters (id, lifecycle, kind, origin, reason, attempts, cause, created_at)
        select ('01b8dd58-e200-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'rabbitmq', 'broker', 'q', 'rejected', 1, n, pawl.now()
        from generate_series(${from}, ${to}) as n`);
      await write(1, 100);
      expect(await t.archiveDeadLetters()).toBe(0);
      await t.advance("1m");
      await write(101, 10_003);
      expect(await t.archiveDeadLetters()).toBe(3);
      await t.deliverAlerts();
      expect(heard).toMatchObject([{ kind: "many_dead_letters", details: { over: 100 } }]);
      expect(await t.pawl.deadLetters.get("01b8dd58-e200-7000-8000-000000000003")).toBeUndefined();
      expect(await t.pawl.deadLetters.get("01b8dd58-e200-7000-8000-000000000004")).toBeDefined();
      await t.advance("6d");
      expect(await t.archiveDeadLetters()).toBe(0);
      await t.advance("1d");
      await t.advance("1m");
      expect(await t.archiveDeadLetters()).toBe(10_000);
    },
  );

  test("nothing is deleted that is not safe in the archive, and somebody is told, once a day", async () => {
    const archive = unreliable();
    const { heard, alerts } = listening();
    await using t = await store.open({ lifecycles: [order], deadLetters: { archive }, alerts });
    await fail(t, 2);
    const letters = await t.pawl.deadLetters.list({ lifecycle: order });
    await t.advance("8d");
    for (const mood of ["down", "forgetful"] as const) {
      archive.mood = mood;
      await expect(t.archiveDeadLetters()).rejects.toMatchObject({ code: "archive_failed" });
      expect(await t.pawl.deadLetters.list({ lifecycle: order })).toEqual(letters);
      await t.advance("1m");
    }
    await expect(t.pawl.deadLetters.archive()).rejects.toMatchObject({ code: "archive_failed" });
    await t.deliverAlerts();
    expect(heard).toMatchObject([{ kind: "archive_failed" }]);
    archive.mood = "good";
    expect(await t.archiveDeadLetters()).toBe(2);
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toEqual([]);
    expect(await t.pawl.deadLetters.restore({ all: true })).toEqual({ files: 1, restored: 2, there: 0, gone: 0 });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toEqual(letters);
  });

  test("one, some or all come back as they were, however often it is said, and can be decided about", async () => {
    await using t = await store.open({ lifecycles: [order], deadLetters: { archive: folderArchive(newFolder()) } });
    await fail(t, 3);
    const [newest, middle, oldest] = (await t.pawl.deadLetters.list({ lifecycle: order })) as [Letter, Letter, Letter];
    await t.pawl.deadLetters.discard(middle.id, { actor: "ada", reason: "ordered twice" });
    const discarded = await t.pawl.deadLetters.get(middle.id);
    await t.advance("1h");
    expect(await t.pawl.deadLetters.archive({ olderThan: "1m" })).toEqual({ letters: 3, files: 1 });
    expect(await t.pawl.deadLetters.archive({ olderThan: "1m" })).toEqual({ letters: 0, files: 0 });
    expect(await t.pawl.deadLetters.tickets.list()).toEqual([]);
    expect(await t.pawl.deadLetters.restore({ id: oldest.id })).toEqual({ files: 1, restored: 1, there: 0, gone: 0 });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toEqual([oldest]);
    expect(await t.pawl.deadLetters.tickets.list()).toMatchObject([{ id: oldest.id, status: "open" }]);
    const { name } = (await t.pawl.deadLetters.archives())[0]!;
    expect(await t.pawl.deadLetters.restore({ file: name })).toEqual({ files: 1, restored: 2, there: 1, gone: 0 });
    expect(await t.pawl.deadLetters.restore({ all: true })).toEqual({ files: 1, restored: 0, there: 3, gone: 0 });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toEqual([newest, oldest]);
    expect(await t.pawl.deadLetters.get(middle.id)).toEqual(discarded);
    await t.advance("6d");
    expect(await t.archiveDeadLetters(), "their time begins anew when they come back").toBe(0);
    await t.pawl.deadLetters.requeue(oldest.id, { actor: "ada" });
    world.isMended = true;
    await t.work();
    expect(await t.pawl.inspect.counts(order)).toMatchObject({ sent: 1 });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("what somebody decides about while it is archived stays, and the last word comes back", async () => {
    const archive = unreliable();
    await using t = await store.open({ lifecycles: [order], deadLetters: { archive } });
    await fail(t, 2);
    const [kept, decided] = (await t.pawl.deadLetters.list({ lifecycle: order })) as [Letter, Letter];
    await t.advance("1h");
    const { write } = archive;
    archive.write = async (name, content) => {
      archive.write = write;
      await t.pawl.deadLetters.discard(decided.id, { actor: "ada" });
      await write(name, content);
    };
    await t.pawl.deadLetters.archive({ olderThan: "1m" });
    expect(await t.pawl.deadLetters.get(kept.id)).toBeUndefined();
    expect(await t.pawl.deadLetters.get(decided.id), "the next file holds it").toBeUndefined();
    expect(archive.files.size).toBe(2);
    expect(await t.pawl.deadLetters.restore({ all: true })).toMatchObject({ restored: 2, there: 1 });
    expect(await t.pawl.deadLetters.get(decided.id)).toMatchObject({ status: "discarded", decidedBy: "ada" });
  });

  test("a letter stays with its instance until it is archived, and does not come back without it", async () => {
    const email = job("email", {
      run: () => Promise.reject(new Error("no server")),
      retry: { maxAttempts: 1, backoff: () => 0 },
    });
    await using t = await store.open({ lifecycles: [email], deadLetters: { archive: unreliable() } });
    await t.pawl.enqueue(email);
    await t.work();
    await t.pawl.deadLetters.discard((await t.pawl.deadLetters.list())[0]!.id);
    await t.advance("8d");
    expect(await t.prune()).toBe(0);
    expect(await t.archiveDeadLetters()).toBe(1);
    await t.advance("1h");
    expect(await t.prune()).toBe(1);
    expect(await t.pawl.deadLetters.restore({ all: true })).toEqual({ files: 1, restored: 0, there: 0, gone: 1 });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("of several processes one archives at a time; one that dies over it is followed after five minutes", async () => {
    const archive = unreliable();
    await using t = await store.open({ lifecycles: [order], deadLetters: { archive } });
    await fail(t, 1);
    await t.advance("8d");
    let finish: () => void = () => {};
    const { write } = archive;
    const begun = new Promise<void>((begin) => {
      archive.write = async (name, content) => {
        begin();
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        await write(name, content);
      };
    });
    const slow = t.archiveDeadLetters();
    await begun;
    archive.write = write;
    await using other = await openSecondProcess(t, [order]);
    expect(await other.pawl.deadLetters.archives()).toEqual([]);
    expect(await t.archiveDeadLetters()).toBe(0);
    await t.advance("5m");
    expect(await t.archiveDeadLetters()).toBe(1);
    finish();
    await slow;
    expect(await t.pawl.deadLetters.archives()).toHaveLength(1);
    expect(await t.pawl.deadLetters.restore({ all: true })).toMatchObject({ restored: 1 });
  });

  test("a file that is not what was written is not restored, nor one that is none", async () => {
    const path = newFolder();
    await using t = await store.open({ lifecycles: [order], deadLetters: { archive: folderArchive(path) } });
    await fail(t, 1);
    await t.advance("1h");
    await t.pawl.deadLetters.archive({ olderThan: "1m" });
    const { name } = (await t.pawl.deadLetters.archives())[0]!;
    await fail(t, 1);
    await t.advance("1h");
    await t.pawl.deadLetters.archive({ olderThan: "1m" });
    writeFileSync(join(path, name), "something else");
    await expect(t.pawl.deadLetters.restore({ all: true })).rejects.toMatchObject({
      code: "archive_damaged",
      message: expect.stringContaining("1 of 2 files were restored, with 1 dead letters."),
    });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toHaveLength(1);
    rmSync(join(path, name));
    await expect(t.pawl.deadLetters.restore({ all: true })).rejects.toMatchObject({ code: "archive_unknown" });
    await expect(t.pawl.deadLetters.restore({ file: "../../etc/passwd" })).rejects.toMatchObject({
      code: "archive_unknown",
    });
    await expect(t.pawl.deadLetters.restore({ file: name, all: true } as never)).rejects.toMatchObject({
      code: "option_invalid",
    });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toHaveLength(1);
  });
});

test("a file that unpacks to more than any archive holds is refused as damaged, not unpacked", async () => {
  const archive = unreliable();
  await using t = await testPawl({ lifecycles: [order], deadLetters: { archive } });
  const part = gzipSync(Buffer.alloc(32 * 1024 * 1024));
  const bomb = Buffer.concat(Array.from({ length: 17 }, () => part)); // Half a MiB, which unpacks to 544 MiB.
  const sha256 = createHash("sha256").update(bomb).digest("hex");
  await fail(t, 1);
  await t.advance("1h");
  await t.pawl.deadLetters.archive({ olderThan: "1m" });
  const { name } = (await t.pawl.deadLetters.archives())[0]!;
  const file = name.replace(/[0-9a-f]{64}/, sha256);
  archive.files.set(file, bomb);
  await expect(t.pawl.deadLetters.restore({ file })).rejects.toMatchObject({
    code: "archive_damaged",
    message: expect.stringContaining("Could not decompress"),
  });
  expect(await t.pawl.deadLetters.list()).toEqual([]);
  await t.pawl.deadLetters.restore({ file: name });
  expect(await t.pawl.deadLetters.list()).toHaveLength(1);
});

type Letter = Awaited<ReturnType<TestPawl["pawl"]["deadLetters"]["list"]>>[number];

describe("a bucket", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.stop());
  const archiveAt = (options = {}) =>
    s3Archive({ bucket: "letters", endpoint: server.url, credentials: s3Keys, prefix: "my pawl/", ...options });

  test("keeps files and gives them back, each request signed", async () => {
    const archive = archiveAt({ credentials: async () => s3Keys });
    const names = ["a/1.gz", "a/2&3 (é).gz", "b/4.gz", "b/5+6.gz", "c/7.gz"];
    for (const name of names) await archive.write(name, Buffer.from(`content of ${name}`));
    server.objects.set("somebody/else", Buffer.from("x"));
    expect([...(await archive.list())].sort()).toEqual(names);
    expect((await archive.read(names[1]!)).toString()).toBe(`content of ${names[1]}`);
    expect([...server.objects.keys()]).toContain("my pawl/a/2&3 (é).gz");
    await archive.write(names[0]!, Buffer.from("again"));
    expect((await archive.read(names[0]!)).toString()).toBe("again");
  });

  test("signs the token of a session", async () => {
    await archiveAt({ credentials: { ...s3Keys, sessionToken: "of an hour" } }).write("a", Buffer.from("x"));
    expect([...server.sessionTokens]).toEqual(["of an hour"]);
  });

  test("says what is wrong: a key that is not known, a file that is not there, a server that is busy or silent", async () => {
    const content = Buffer.from("x");
    const wrong = { credentials: { ...s3Keys, secretAccessKey: "guessed" } };
    await expect(archiveAt(wrong).write("a", content)).rejects.toThrow("403 SignatureDoesNotMatch");
    await expect(archiveAt().read("none")).rejects.toThrow("404 NoSuchKey");
    server.faults.push(503);
    await expect(archiveAt().write("a", content)).rejects.toThrow("503 SlowDown");
    server.faults.push("silence");
    await expect(archiveAt({ timeout: "50ms" }).write("a", content)).rejects.toThrow(/time/i);
    for (const bad of [
      { bucket: "Bad Bucket" },
      { endpoint: "ftp://x" },
      { region: "eu central" },
      { timeout: "soon" },
    ])
      expect(() => archiveAt(bad), JSON.stringify(bad)).toThrow(expect.objectContaining({ code: "option_invalid" }));
  });

  test("holds archived letters, and those of a bucket that forgets are not deleted", async () => {
    const { testPawl } = await import("pawl/testing");
    await using t = await testPawl({
      lifecycles: [order],
      deadLetters: { archive: archiveAt({ prefix: "letters/" }) },
    });
    await fail(t, 2);
    const letters = await t.pawl.deadLetters.list({ lifecycle: order });
    await t.advance("8d");
    server.faults.push("forget");
    await expect(t.archiveDeadLetters()).rejects.toMatchObject({ code: "archive_failed" });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toEqual(letters);
    await t.advance("1m");
    expect(await t.archiveDeadLetters()).toBe(2);
    await t.db.script("truncate pawl.archives"); // As if it were another database.
    expect(await t.pawl.deadLetters.restore({ all: true })).toMatchObject({ files: 1, restored: 2 });
    expect(await t.pawl.deadLetters.list({ lifecycle: order })).toEqual(letters);
  });
});
