import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { maintain } from "../../../src/maintenance/round.ts";
import { CapturedLog } from "../../support/captured-log.ts";
import { eachStore } from "../../support/each-store.ts";

const upload = lifecycle("upload", {
  data: z.object({ held: z.boolean().default(false) }),
  initial: "parked",
  states: {
    parked: {
      release: { interval: "1m", limit: 3, send: "index" },
      on: { index: { to: "indexed", guard: ({ data }) => !data.held || "it is held back" } },
    },
    indexed: { final: "success" },
  },
});

const broken = { hook: true };
/** One at a time: those that refuse or throw come first. */
const single = lifecycle("single", {
  data: z.object({ held: z.boolean().default(false), throws: z.boolean().default(false) }),
  initial: "parked",
  states: {
    parked: {
      release: { interval: "1m", limit: 1, send: "go" },
      on: {
        go: {
          to: "gone",
          guard: ({ data }) => !data.held || "it is held back.",
          before: ({ data }) => {
            if (data.throws && broken.hook) throw new Error("the gate is jammed");
          },
        },
        hurry: "gone",
      },
    },
    gone: { final: "success" },
  },
});

eachStore((store) => {
  test("a parked state is released in bulk, at its times, oldest first and so many at most", async () => {
    await using t = await store.open({ lifecycles: [upload] });
    const made = await t.pawl.startMany(
      upload,
      Array.from({ length: 7 }, () => ({ data: {} })),
    );
    await t.advance("1s");
    expect(await t.pawl.inspect.counts(upload)).toEqual({ parked: 4, indexed: 3 });
    const first = await t.pawl.list(upload, { state: "indexed" });
    expect(first.map((one) => one.id).sort()).toEqual(
      made
        .slice(0, 3)
        .map((one) => one.id)
        .sort(),
    );
    await t.advance("58s");
    expect(await t.pawl.inspect.counts(upload)).toEqual({ parked: 4, indexed: 3 });
    await t.advance("1s");
    expect(await t.pawl.inspect.counts(upload)).toEqual({ parked: 1, indexed: 6 });
    await t.advance("10m");
    expect(await t.pawl.inspect.counts(upload)).toEqual({ indexed: 7 });
    expect((await t.pawl.journal(upload, { id: made[0]!.id })).at(-1)).toMatchObject({
      event: "index",
      source: "timer",
      reason: "release",
    });
  });

  test("those that may not go hold up nobody behind them", async () => {
    await using t = await store.open({ lifecycles: [upload] });
    await t.pawl.startMany(
      upload,
      Array.from({ length: 5 }, () => ({ data: { held: true } })),
    );
    await t.pawl.startMany(upload, [{ data: {} }, { data: {} }]);
    await t.advance("1s");
    expect(await t.pawl.inspect.counts(upload)).toEqual({ parked: 5, indexed: 2 });
  });

  test("of many rounds at the same moment, one releases", async () => {
    await using t = await store.open({ lifecycles: [upload] });
    await t.pawl.startMany(
      upload,
      Array.from({ length: 9 }, () => ({ data: {} })),
    );
    const rounds = await Promise.all(Array.from({ length: 5 }, () => t.maintain()));
    expect(rounds.map((one) => one.released).sort()).toEqual([0, 0, 0, 0, 3]);
  });

  test("instances that refuse or throw do not starve those behind them, however many they are", async () => {
    await using t = await store.open({ lifecycles: [single] });
    broken.hook = true;
    await t.pawl.startMany(
      single,
      Array.from({ length: 60 }, (_, index) => ({ data: { held: index % 2 === 0, throws: index % 2 === 1 } })),
    );
    const last = await t.pawl.start(single, { data: {} });
    await t.advance("2m");
    expect(await t.pawl.get(single, { id: last.id })).toMatchObject({ state: "gone" });
  });

  test("A54 a refused release is logged, noted once for each reason, asked again with pauses, and an alert in the end", async () => {
    const log = new CapturedLog();
    await using t = await store.open({ lifecycles: [single], logger: log });
    await t.pawl.start(single, { key: "held", data: { held: true } });
    await t.advance("3h");
    expect(log.lines).toMatchObject([
      { level: "warn", fields: { state: "parked", attempts: 1 }, message: expect.stringContaining("it is held back") },
      { level: "warn", fields: { attempts: 10 } },
      { level: "error", fields: { alert: "release_refused" }, message: expect.stringMatching(/[^.]\.$/) },
    ]);
    const attempts = (await t.pawl.history(single, "held")).filter((entry) => "what" in entry);
    expect(attempts).toMatchObject([
      { what: "refused", detail: { event: "go", source: "release", reason: "it is held back." } },
      { what: "refused", detail: { attempts: 10 } },
    ]);
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    // The pause grows to ten turns: after three hours it was asked about twenty times, and not two hundred times.
    const { rows } = await t.pawl.transaction((tx) => tx.query("select attempts, reason from pawl.release_failures"));
    const [known] = rows as { attempts: number; reason: string }[];
    expect(known!.reason).toBe("it is held back.");
    expect(known!.attempts).toBeGreaterThan(10);
    expect(known!.attempts).toBeLessThan(30);
  });

  test("A54 a release that throws ends as a dead letter with the error, and a requeue sends its event", async () => {
    broken.hook = true;
    const log = new CapturedLog();
    await using t = await store.open({ lifecycles: [single], logger: log });
    await t.pawl.start(single, { key: "jammed", data: { throws: true } });
    await t.advance("1h");
    const letters = await t.pawl.deadLetters.list();
    expect(letters).toMatchObject([
      {
        kind: "instance",
        origin: "parked",
        reason: "release_failed",
        attempts: 5,
        error: { message: expect.stringContaining("the gate is jammed") },
      },
    ]);
    expect(log.lines.at(-1)).toMatchObject({ level: "error", fields: { alert: "event_failed" } });
    const before = log.lines.length;
    await t.advance("1h");
    expect(log.lines.length).toBe(before);
    broken.hook = false;
    await t.pawl.deadLetters.requeue(letters[0]!.id);
    expect(await t.pawl.get(single, "jammed")).toMatchObject({ state: "gone" });
    expect(await t.pawl.deadLetters.list()).toEqual([]);
  });

  test("the dead letter of a parked instance is decided when it goes on another way", async () => {
    broken.hook = true;
    await using t = await store.open({ lifecycles: [single] });
    await t.pawl.start(single, { key: "jammed", data: { throws: true } });
    await t.advance("1h");
    expect(await t.pawl.deadLetters.list()).toHaveLength(1);
    await t.pawl.send(single, "jammed", "hurry");
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a state that cannot be released keeps no other state from it", async () => {
    await using t = await store.open({ lifecycles: [upload, single] });
    await t.pawl.start(upload, { key: "u", data: {} });
    await t.pawl.start(single, { key: "s", data: {} });
    await t.db.script(`
      create function public.refuse_upload() returns trigger language plpgsql as $$
        begin raise exception 'no turn for it'; end $$;
      create trigger refuse_upload before insert on pawl.releases for each row when (new.lifecycle = 'upload')
        execute function public.refuse_upload()`);
    const { released, failures } = await maintain(t.kernel, []);
    expect([released, failures]).toMatchObject([1, [{ id: "upload/parked", error: { message: expect.any(String) } }]]);
    await t.db.script("drop trigger refuse_upload on pawl.releases; drop function public.refuse_upload()");
    expect(await maintain(t.kernel, [])).toMatchObject({ released: 1, failures: [] });
  });
});
