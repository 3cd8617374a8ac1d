import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPawl, job, type Pawl, type PawlEvents, type WorkOptions } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { makeLog } from "../../src/telemetry/log.ts";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { type Broken, breaking, fails, impatiently, type Way } from "./ways.ts";

// Listeners: whatever they do, who called them goes on, and what they throw is logged.

const errand = job("errand", {
  payload: z.object({ fails: z.boolean() }),
  run: (step) => {
    step.log("It runs.");
    if (step.data.fails) throw new Error("no luck");
  },
  retry: { maxAttempts: 1, backoff: () => 0 },
});

const log = new CapturedLog();
/** What the logger at hand does: it keeps its lines, or is broken. */
let levels: Partial<Record<"debug" | "info" | "warn" | "error", Broken>> = {};
const logger = Object.fromEntries(
  (["debug", "info", "warn", "error"] as const).map((level) => [
    level,
    (fields: object, message: string) => {
      log[level](fields, message);
      return levels[level]?.() as unknown;
    },
  ]),
) as unknown as CapturedLog;

let t: TestPawl;
let count = 0;
beforeAll(async () => {
  const broker = {
    name: "broker",
    timeoutMs: 1_000,
    takes: () => true,
    awayMs: () => 0,
    publish: () => Promise.reject(new Error("nothing is sent")),
    close: async () => {},
  };
  t = await testPawl({ lifecycles: [errand], logger, outbox: { brokers: [broker] } });
});
afterAll(() => t?.close());

/** A failure of the listener is logged; a worker runs its jobs beside. */
async function goesOn(how: Way, options: WorkOptions, trigger: () => unknown = () => {}): Promise<void> {
  log.lines.length = 0;
  const worker = t.pawl.work({ pollInterval: 10, maintenanceInterval: 0, ...options });
  await trigger();
  const keys = [`${++count} fails`, `${count} is fine`];
  await t.pawl.enqueueMany(
    errand,
    keys.map((key) => ({ key, payload: { fails: key.endsWith("fails") } })),
  );
  for (const key of keys) await t.pawl.wait(errand, key, { timeout: "10s" });
  expect(await t.pawl.get(errand, keys[1]!)).toMatchObject({ state: "done" });
  if (fails(how)) await expect.poll(() => log.lines.filter(isItsFailure), { timeout: 5_000 }).not.toEqual([]);
  await worker.stop();
}
const isItsFailure = ({ level, message }: CapturedLog["lines"][number]) =>
  level === "error" && (message.includes("broken on purpose") || message === "null");

describe("of a worker", () => {
  breaking("WorkOptions.onMove", (how, broken) => goesOn(how, { onMove: once(broken) }));
  breaking("Log", (how, broken) => goesOn(how, { onLog: once(broken) }));
  breaking("WorkOptions.onFailure", (how, broken) =>
    goesOn(how, { onFailure: once(broken) }, () => t.faults.plant("claim.before", "throw")),
  );
});

/** Broken once, and fine after that: a worker moves often. */
function once(broken: Broken): () => unknown {
  let isOver = false;
  return () => {
    if (isOver) return undefined;
    isOver = true;
    return broken() as unknown;
  };
}

breaking("RelayOptions.onFailure", async (how, broken) => {
  log.lines.length = 0;
  let calls = 0;
  const onFailure = () => (++calls === 1 ? (broken() as unknown) : undefined);
  const relay = t.pawl.relay({ onFailure, pollInterval: 10 });
  await t.pawl.publish("a.message", {}, { aggregate: { type: "thing", id: `${++count}` } });
  // It is tried again: the relay has gone on.
  const attempts = async () => (await t.pawl.outbox.messages({}))[0]!.retryCount;
  await expect.poll(attempts, { timeout: 10_000 }).toBe(1);
  await expect.poll(() => calls, { timeout: 5_000 }).toBeGreaterThan(0);
  if (fails(how)) await expect.poll(() => log.lines.filter(isItsFailure), { timeout: 5_000 }).not.toEqual([]);
  await relay.stop();
});

breaking("MaintainOptions.onFailure", async (how, broken) => {
  log.lines.length = 0;
  const { id } = await t.pawl.enqueue(errand, { fails: false }, { key: `late ${++count}`, after: "1m" });
  t.faults.plant("promote.before", "throw");
  let calls = 0;
  const once = () => (++calls === 1 ? (broken() as unknown) : undefined);
  const maintenance = t.pawl.maintain({ interval: 10, onFailure: once });
  await t.db.script("update pawl.test_clock set now = now + interval '1 minute'");
  await expect.poll(() => calls, { timeout: 5_000 }).toBe(1);
  if (fails(how)) await expect.poll(() => log.lines.filter(isItsFailure), { timeout: 5_000 }).not.toEqual([]);
  await expect.poll(() => t.work(), { timeout: 5_000 }).toBe(1); // A later round has readied it.
  await maintenance.stop();
  expect(await t.pawl.get(errand, { id })).toMatchObject({ state: "done" });
});

breaking("Pawl.on(listener)", async (how, broken) => {
  const heard: PawlEvents["moved"][] = [];
  const offs = [t.pawl.on("moved", once(broken)), t.pawl.on("moved", (event) => heard.push(event))];
  await goesOn(how, {});
  for (const off of offs) off();
  expect(heard.length).toBeGreaterThan(1);
});

describe("of the embedded database", () => {
  let pawl: Pawl;
  let warn: Broken = () => {};
  const folder = mkdtempSync(join(tmpdir(), "pawl-guard-"));
  beforeAll(async () => {
    pawl = await createPawl({ folder, lifecycles: [errand], logger: log, onWarning: () => warn() as unknown });
  });
  afterAll(async () => {
    await pawl?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  breaking("PawlOptions.onWarning", async (how, broken) => {
    [warn, log.lines.length] = [broken, 0];
    let enter = () => {};
    const entered = new Promise<void>((resolve) => {
      enter = resolve;
    });
    let outside: Promise<unknown> | undefined;
    await impatiently(async () => {
      const waitsForItself = pawl.transaction(async () => {
        enter();
        await expect.poll(() => outside).toBeDefined();
        await outside;
      });
      await entered;
      outside = pawl.get(errand, "nothing");
      await expect(waitsForItself).rejects.toThrow();
    }, 5_000);
    expect(await outside).toBeUndefined();
    await expect.poll(() => log.lines.filter(isItsFailure)).toHaveLength(fails(how) ? 1 : 0);
  });
});

describe("a logger", () => {
  const logs = (level: keyof typeof levels) => async (_: Way, broken: Broken) => {
    levels = { [level]: broken };
    const { [level]: write } = await makeLog(logger);
    write({}, "A line.");
    levels = { [level]: once(broken) };
    await goesOn("returns NaN", {});
    levels = {};
    expect(log.said("info")).toContain("It runs.");
  };
  breaking("Log.debug", logs("debug"));
  breaking("Log.info", logs("info"));
  breaking("Log.warn", logs("warn"));
  breaking("Log.error", logs("error"));

  test("of pino's whose own functions throw", async () => {
    const mixin = () => {
      throw new Error("a mixin throws");
    };
    const pino = await makeLog({ level: "warn", mixin });
    expect(() => pino.warn({}, "A line.")).not.toThrow();
  });
});
