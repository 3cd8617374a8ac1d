import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Alert, type DeadLetterArchive, folderArchive } from "pawl";
import { s3Archive } from "pawl/s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enforceRetention } from "../../../src/dead-letters/retention.ts";
import { letterSettings } from "../../../src/dead-letters/settings.ts";
import { fail, order } from "../../dead-letters/orders.ts";
import { type PostgresServer, startPostgres } from "../../setup/postgres.ts";
import { s3Keys, startS3 } from "../../setup/s3-server.ts";
import { onPostgres } from "../../setup/suites.ts";
import { eachStore } from "../../support/each-store.ts";
import { openBehindProxy } from "../harm/behind-proxy.ts";
import { bringBack, installMovedClock, setAhead, takeAway } from "../harm/moved-clock.ts";

/** An archive that can become unreachable, and its files. */
interface Specimen {
  readonly archive: DeadLetterArchive;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** A folder on a volume that is not mounted for a while: something else is where it was. */
async function aFolder(): Promise<Specimen> {
  const parent = await mkdtemp(join(tmpdir(), "pawl-archives-away-"));
  const folder = join(parent, "mount");
  return {
    archive: folderArchive(folder),
    goAway: () => writeFile(folder, ""),
    comeBack: () => rm(folder),
    close: () => rm(parent, { recursive: true }),
  };
}

async function aBucket(): Promise<Specimen> {
  const server = await startS3();
  const options = { bucket: "letters", endpoint: server.url, credentials: s3Keys };
  return {
    archive: s3Archive(options),
    goAway: () => server.goAway(),
    comeBack: () => server.comeBack(),
    close: () => server.stop(),
  };
}

const kinds = { "a folder": aFolder, "a bucket": aBucket };

/** The ids of the letters in all files, with repetitions. */
async function archivedIds(archive: DeadLetterArchive): Promise<string[]> {
  const files = await Promise.all((await archive.list()).map((name) => archive.read(name)));
  const lines = files.flatMap((file) => gunzipSync(file).toString().trim().split("\n"));
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

eachStore((store) => {
  describe.each(Object.entries(kinds))("%s", (_, open) => {
    test("that is away for minutes keeps no letter from being archived once, raises one alert, and is used again by itself", async () => {
      const it = await open();
      const heard: Alert[] = [];
      const alerts = [{ name: "kept", send: (alert: Alert) => alert.kind === "archive_failed" && heard.push(alert) }];
      const deadLetters = { archive: it.archive, maxRetained: 2 };
      await using t = await store.open({ lifecycles: [order], deadLetters, alerts });
      await fail(t, 5);
      const all = (await t.pawl.deadLetters.list({ lifecycle: order })).map(({ id }) => id).sort();
      await it.goAway();
      for (let minute = 0; minute < 3; minute++) {
        await expect(t.archiveDeadLetters()).rejects.toMatchObject({ code: "archive_failed" });
        await t.advance("61s");
        await t.deliverAlerts();
      }
      expect(await t.pawl.deadLetters.list({ lifecycle: order })).toHaveLength(5);
      expect(heard, "one a day").toHaveLength(1);
      await it.comeBack();
      expect(await t.archiveDeadLetters()).toBe(3);
      const left = (await t.pawl.deadLetters.list({ lifecycle: order })).map(({ id }) => id);
      expect([...(await archivedIds(it.archive)), ...left].sort()).toEqual(all);
      expect(await t.pawl.inspect.verify()).toEqual([]);
      await it.close();
    });
  });
});

onPostgres("PostgreSQL away while dead letters are archived", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test.each(Object.entries(kinds))(
    "in %s: each is archived at least once, and none is lost",
    async (_, open) => {
      const it = await open();
      const settings = letterSettings({ archive: it.archive, maxRetained: 2 });
      await using t = await openBehindProxy(server.url, undefined, { lifecycles: [order] });
      await installMovedClock(t);
      for (let n = 0; n < 5; n++) {
        const { id } = await t.pawl.start(order, { data: { fault: "it", n } });
        await t.pawl.send(order, { id }, "fail");
      }
      const all = (await t.pawl.deadLetters.list({ lifecycle: order })).map(({ id }) => id).sort();
      // It goes away when the file is written, and the letters are not removed yet.
      const archive = { ...it.archive, read: (name: string) => it.archive.read(name).finally(() => takeAway(t)) };
      await expect(enforceRetention(t.kernel, { ...settings, archive })).rejects.toThrow();
      await setAhead(t, 180);
      bringBack(t);
      const notYet = await enforceRetention(t.kernel, settings);
      expect(notYet, "the turn is held by whoever had it, for five minutes").toBe(0);
      await setAhead(t, 301);
      expect(await enforceRetention(t.kernel, settings)).toBe(3);
      const left = (await t.pawl.deadLetters.list({ lifecycle: order })).map(({ id }) => id);
      expect(left).toHaveLength(2);
      expect([...new Set(await archivedIds(it.archive)), ...left].sort()).toEqual(all);
      expect(await t.pawl.inspect.verify()).toEqual([]);
      await it.close();
    },
    60_000,
  );
});
