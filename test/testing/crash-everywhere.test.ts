import { constant, lifecycle } from "pawl";
import { type CrashEverywhereOptions, crashEverywhere, EffectLedger, memoryBroker, type TestPawl } from "pawl/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const done = { final: "success" } as const;
const effects = new EffectLedger();

/** An order that is charged and shipped, with a bank that is asked in a certain way. */
function orderWith(charge: (step: { id: string; idempotencyKey: string; attempt: number }) => Promise<unknown>) {
  return lifecycle("order", {
    data: z.object({ amount: z.number(), receipt: z.string().optional() }),
    initial: "open",
    states: {
      open: { timeout: { after: "1d", send: "fail" }, on: { pay: "charging" } },
      charging: {
        run: async (step) => {
          step.set({ receipt: String(await charge(step)) });
        },
        on: { charged: "shipping" },
      },
      shipping: {
        run: async (step) => {
          await effects.record("ship", { key: step.keyFor("ship"), about: step.id });
        },
        on: { shipped: "done" },
      },
      done,
    },
  });
}

const sound = orderWith((step) =>
  effects.record("charge", { key: step.idempotencyKey, about: step.id }, () => "receipt"),
);

function scenarioOf(order: typeof sound) {
  return async (t: TestPawl) => {
    await t.pawl.start(order, { key: "o1", data: { amount: 5 } });
    await t.pawl.send(order, "o1", "pay", { idempotencyKey: "pay-o1" });
    await t.settle();
  };
}

/** What a call is refused with. */
async function refusal(options: unknown): Promise<string> {
  return crashEverywhere(options as CrashEverywhereOptions).then(
    () => "nothing",
    (error: Error) => error.message,
  );
}

describe("a process that dies everywhere", () => {
  test("has the same outcome with a sound lifecycle, and each effect happens once", async () => {
    const report = await crashEverywhere({ lifecycles: [sound], effects, scenario: scenarioOf(sound) });
    expect(report).toMatchObject({ failures: [], missed: 0, effects: { charge: 1, ship: 1 } });
    expect(report.points).toBeGreaterThan(8);
    expect(report.visits).toBeGreaterThan(report.points);
    expect(report.text).toContain("the outcome is the same after each of them");
  });

  test("charges twice without an idempotency key, and that is reported with the point to run again", async () => {
    const order = orderWith((step) => effects.record("charge", { about: step.id }, () => "receipt"));
    const given = { lifecycles: [order], effects, scenario: scenarioOf(order) };
    const message = await refusal(given);
    expect(message).toContain("The process dies right after the effect `charge` happened.");
    expect(message).toContain("the effect `charge` happened twice, and once without a crash");
    expect(message).toContain('only: "effect:charge:1"');
    const again = crashEverywhere({ ...given, only: "effect:charge:1" });
    await expect(again).rejects.toMatchObject({
      code: "crash_unsafe",
      details: { failures: [{ place: "effect:charge" }] },
    });
    expect(await crashEverywhere({ ...given, only: "effect:charge:1", repeatable: ["charge"] })).toMatchObject({
      points: 1,
    });
  });

  test("charges twice with a key of its own for each attempt", async () => {
    const order = orderWith((step) => effects.record("charge", { key: `${step.id} ${step.attempt}` }, () => "receipt"));
    expect(await refusal({ lifecycles: [order], effects, scenario: scenarioOf(order) })).toContain("happened twice");
  });

  test("starts an instance twice when the start has no key, and cannot repeat an event that has none", async () => {
    const one = lifecycle("one", {
      initial: "open",
      states: { open: { forever: true, on: { pay: "done" } }, done },
    });
    const unkeyed = async (t: TestPawl) => void (await t.pawl.start(one, {}));
    expect(await refusal({ lifecycles: [one], scenario: unkeyed })).toContain(
      "one #2 is there, and is not without a crash",
    );
    const unrepeated = async (t: TestPawl) => {
      await t.pawl.start(one, { key: "x" });
      await t.pawl.send(one, "x", "pay");
    };
    expect(await refusal({ lifecycles: [one], scenario: unrepeated })).toContain(
      "fails when it is repeated after the crash",
    );
  });

  test("rolls back what hooks wrote, sends each message, joins each child, and runs nothing twice that `once` keeps", async () => {
    const broker = memoryBroker();
    const sent = new Set<string>();
    broker.on("joined", ({ id }) => void sent.add(id));
    const child = lifecycle("child", {
      initial: "working",
      states: { working: { run: () => {}, on: { worked: "done" } }, done },
    });
    const parent = lifecycle("parent", {
      data: z.object({ number: z.number().optional() }),
      initial: "starting",
      states: {
        starting: {
          run: async (step) => {
            step.set({ number: await step.once("number", () => effects.record("number", { key: step.id }, () => 7)) });
            for (const key of ["a", "b"]) step.start(child, { key });
          },
          on: { started: { to: "joining", before: ({ tx, id }) => tx.query("insert into started values ($1)", [id]) } },
        },
        joining: { join: {}, timeout: { after: "1d", send: "fail" }, on: { joined: "telling" } },
        telling: { run: (step) => step.publish("joined", { id: step.id }), on: { told: "done" } },
        done,
      },
    });
    const report = await crashEverywhere({
      lifecycles: [parent, child],
      outbox: { brokers: [broker] },
      effects,
      beforeEach: () => sent.clear(),
      scenario: async (t) => {
        await t.pawl.transaction((tx) => tx.query("create table if not exists started (id uuid primary key)"));
        await t.pawl.start(parent, { key: "p" });
        await t.settle();
        await t.relay();
      },
      outcome: async (t) => ({
        started: (await t.pawl.transaction((tx) => tx.query("select count(*)::int as count from started"))).rows,
        states: [await t.pawl.inspect.counts(parent), await t.pawl.inspect.counts(child)],
        sent: sent.size,
        violations: await t.pawl.inspect.verify(),
      }),
    });
    expect(report).toMatchObject({ failures: [], missed: 0, effects: { number: 1 } });
    expect(report.points).toBeGreaterThan(15);
  }, 240_000);
});

describe("a scenario that is not usable", () => {
  const one = lifecycle("one", {
    initial: "working",
    states: {
      working: { run: () => {}, retry: { maxAttempts: 1, backoff: constant("1s") }, on: { worked: "done" } },
      done,
    },
  });

  test("one that throws, or never ends, without a crash", async () => {
    const throws = () => {
      throw new Error("no such parcel");
    };
    expect(await refusal({ lifecycles: [one], scenario: throws })).toBe(
      "The scenario of `crashEverywhere` fails without a crash: no such parcel",
    );
    const hangs = () => new Promise(() => {});
    expect(await refusal({ lifecycles: [one], scenario: hangs, timeout: 50 })).toContain("did not settle within 50 ms");
  });

  test("one that is another each time is told", async () => {
    let runs = 0;
    const report = await crashEverywhere({
      lifecycles: [one],
      scenario: async (t) => {
        runs += 1;
        if (runs === 1) await t.pawl.start(one, { key: "x" });
      },
      outcome: () => "whatever",
    });
    expect(report.missed).toBeGreaterThan(0);
    expect(report.text).toContain("the scenario is not the same each time");
  });

  test.each([
    { options: undefined, expected: "`crashEverywhere` takes an object" },
    { options: { lifecycles: [one] }, expected: "`crashEverywhere` needs `scenario`" },
    { options: { lifecycles: [], scenario: () => {} }, expected: "`crashEverywhere` needs `lifecycles`" },
    { options: { lifecycles: [{}], scenario: () => {} }, expected: "`crashEverywhere` needs `lifecycles`" },
    { options: { lifecycles: [one], scenario: 7 }, expected: "`crashEverywhere` needs `scenario`" },
    {
      options: { lifecycles: [one], scenaro: () => {} },
      expected: "Unknown option `scenaro` for `crashEverywhere`. Did you mean `scenario`?",
    },
    {
      options: { lifecycles: [one], scenario: () => {}, steps: { "one/x": () => {} } },
      expected: "but that step does not exist",
    },
    {
      options: { lifecycles: [one], scenario: () => {}, steps: { "one/working": 7 } },
      expected: 'no function for "one/working"',
    },
    { options: { lifecycles: [one], scenario: () => {}, effects: [] }, expected: "must be an EffectLedger" },
    { options: { lifecycles: [one], scenario: () => {}, repeatable: "x" }, expected: "must be a list of names" },
    { options: { lifecycles: [one], scenario: () => {}, settle: "soon" }, expected: '"soon" is not a duration' },
    {
      options: { lifecycles: [one], scenario: () => {}, leaseDuration: 0 },
      expected: "`leaseDuration` must be longer",
    },
    {
      options: { lifecycles: [one], scenario: () => {}, outcome: 7 },
      expected: "`outcome` of `crashEverywhere` must be a function",
    },
    {
      options: { lifecycles: [one], scenario: () => {}, only: "nowhere:1" },
      expected: "must be the name of a crash point",
    },
    { options: { lifecycles: [one], scenario: () => {}, only: "commit.after:7" }, expected: "does not reach" },
  ])("$expected", async ({ options, expected }) => {
    expect(await refusal(options)).toContain(expected);
  });
});

describe("a ledger of effects", () => {
  test("does the work of a key once, of no key each time, and of one that threw again", async () => {
    const ledger = new EffectLedger();
    let works = 0;
    const work = () => ++works;
    expect(await ledger.record("a", { key: "k", about: "x" }, work)).toBe(1);
    expect(await ledger.record("a", { key: "k", about: "x" }, work)).toBe(1);
    expect(await ledger.record("a", { about: "y" }, work)).toBe(2);
    await expect(ledger.record("b", { key: "k" }, () => Promise.reject(new Error("away")))).rejects.toThrow("away");
    expect(await ledger.record("b", { key: "k" })).toBe(undefined);
    expect([ledger.times("a"), ledger.times("a", "x"), ledger.times("b"), ledger.repeats]).toEqual([2, 1, 1, 1]);
    ledger.clear();
    expect(ledger.happened).toEqual([]);
    await expect(ledger.record("")).rejects.toThrow("The name of an effect must be a string");
  });
});
