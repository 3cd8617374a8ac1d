import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isPawlError, lifecycle, queue, schedule } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { lanesOf } from "../../src/kernel/lanes/lanes.ts";
import { maintain } from "../../src/maintenance/round.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { userFunctions } from "./user-functions.ts";
import { type Way, ways } from "./ways.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const entries = [
  "src/index.ts",
  "src/http/index.ts",
  "src/outbox/brokers/rabbitmq/index.ts",
  "src/crowd/marketplaces/mturk/index.ts",
  "src/dead-letters/s3-archive.ts",
  "src/formats.ts",
  "src/outbox/brokers/webhooks/webhooks.ts",
  "src/outbox/brokers/memory.ts",
  "src/crowd/marketplaces/memory.ts",
];

/** Broken in every way by `breaking("…")` in the files beside this one. */
const brokenBeside = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".test.ts"))
  .flatMap((file) => [
    ...readFileSync(join(import.meta.dirname, file), "utf8").matchAll(/^\s*breaking\(\s*"([^"]+)"/gm),
  ])
  .map(([, name]) => name!);

/** Broken in every way by the tests below. */
const brokenHere = [
  "Ask.sample",
  "Definition.onMove",
  "Hooks.before",
  "Hooks.guard",
  "Hooks.set",
  "Moment",
  "RankOf",
  "RetryModel.backoff",
  "RetryRule.when",
  "ScheduleDefinition.key",
  "StandardSchemaV1.validate",
  "StartData",
];

/** Found by the walk over the types, and no functions of users: why. */
const notOfUsers: Record<string, string> = {
  "Bytes.subarray": "A Buffer has it.",
  "Bytes.toString": "A Buffer has it.",
  "DatabasePool.connect": "Pawl takes the settings of a pool, and never calls it.",
  "DeadLetterSource.open(given).available": "Pawl makes it, and hands it to a source.",
  "DeadLetterSource.open(given).keep": "Pawl makes it, and hands it to a source.",
  "HookTransaction.query": "Pawl makes it, and hands it to a hook.",
  "LogOptions.formatters.bindings": "pino calls it, within the guard of the log.",
  "LogOptions.formatters.level": "pino calls it, within the guard of the log.",
  "LogOptions.formatters.log": "pino calls it, within the guard of the log.",
  "LogOptions.mixin": "pino calls it, within the guard of the log.",
  "LogOptions.serializers": "pino calls it, within the guard of the log.",
  "LogOptions.timestamp": "pino calls it, within the guard of the log.",
  "MturkOptions.now": "It is internal: Pawl's own tests move that clock.",
  Storable: "A type that asks whether a value is a function; there is no value of it.",
  "timeOf(now)": "It calls `MemoryMarketplaceOptions.now`, which is broken by that name.",
};

test("every function that a user supplies is listed here, with the tests that break it", () => {
  const listed = [...brokenHere, ...brokenBeside, ...Object.keys(notOfUsers)].sort();
  expect(userFunctions(root, entries)).toEqual(listed);
});

type Broken = { readonly breaks: string; readonly how: string };
const data = z.object({ breaks: z.string(), how: z.string() });

/** What a function of a definition does: what it should, or what a test wants to see survived. */
// biome-ignore lint/suspicious/noExplicitAny: it stands in for functions of any type.
function act(name: string, { breaks, how }: Broken, fine: unknown): any {
  return breaks === name ? ways[how as Way]() : fine;
}

const checked = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: (value: unknown) => act("StandardSchemaV1.validate", value as Broken, { value }),
    types: undefined as unknown as { input: Broken; output: Broken },
  },
};

const victim = lifecycle("victim", {
  data: checked,
  deadline: { within: (context) => act("Moment (deadline)", context.data, "10d") },
  initial: "waits",
  states: {
    waits: {
      timeout: { after: "1m", send: "go" },
      on: {
        go: {
          to: "timed",
          guard: (context) => act("Hooks.guard", context.data, true),
          set: (context) => act("Hooks.set", context.data, {}),
          before: (context) => act("Hooks.before", context.data, undefined),
        },
      },
    },
    timed: { timeout: { after: (context) => act("Moment", context.data, "1m"), send: "next" }, on: { next: "works" } },
    works: {
      run: (step) => {
        broken.current = step.data;
        if (step.attempt === 1) throw new Error("the first attempt");
      },
      retry: {
        maxAttempts: 3,
        backoff: () => act("RetryModel.backoff", broken.current, 1_000),
        rules: [{ when: () => act("RetryRule.when", broken.current, false), maxAttempts: 1 }],
      },
      on: { worked: "done" },
    },
    done: { final: "success" },
  },
});

const noting = lifecycle("noting", {
  data,
  onMove: (move) => (move.event === "go" ? act("Definition.onMove", move.data, undefined) : undefined),
  initial: "waits",
  states: { waits: { timeout: { after: "1m", send: "go" }, on: { go: "done" } }, done: { final: "success" } },
});

const broken: { current: Broken } = { current: { breaks: "", how: "" } };
const ranks = queue("ranks", {
  label: z.object({ ok: z.boolean() }),
  order: (sample) => act("RankOf", sample.data as Broken, 1),
});
const asker = lifecycle("asker", {
  data,
  initial: "asks",
  states: {
    asks: {
      ask: { queue: ranks, sample: (context) => act("Ask.sample", context.data, context.data) },
      timeout: { after: "9d", send: "fail" },
      on: { answered: "done", unanswered: "done" },
    },
    done: { final: "success" },
  },
});

const tick = lifecycle("tick", {
  data,
  initial: "ticked",
  states: { ticked: { forever: true, on: { end: "done" } }, done: { final: "success" } },
});
const schedules = ["ScheduleDefinition.key", "StartData"].map((name, index) =>
  schedule(`s${index}`, {
    interval: "1h",
    start: tick,
    key: ({ at }) => act("ScheduleDefinition.key", name === "StartData" ? fine : broken.current, `${index} ${at}`),
    data: () => act("StartData", name === "StartData" ? broken.current : fine, fine),
  }),
);
const fine: Broken = { breaks: "", how: "" };

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [victim, noting, asker, tick], schedules });
  });
  afterAll(() => t.close());

  /** A round of maintenance whose hooks may take a moment only. */
  const round = async () => maintain({ ...t.kernel, hookLimitMs: 100 }, await lanesOf(t.kernel));
  const later = (time: string) => t.db.script(`update pawl.test_clock set now = now + interval '${time}'`);

  const moves = Object.keys(ways).flatMap((how) =>
    ["Hooks.guard", "Hooks.set", "Hooks.before", "Moment", "RetryModel.backoff", "RetryRule.when"].map(
      (breaks) => [breaks, how] as const,
    ),
  );

  test.each(moves)("%s that %s is reported for its instance, and others go on", async (breaks, how) => {
    const [good, bad] = [`good ${breaks} ${how}`, `bad ${breaks} ${how}`];
    await t.pawl.start(victim, { key: bad, data: { breaks, how } });
    await t.pawl.start(victim, { key: good, data: fine });
    const { id } = (await t.pawl.get(victim, bad))!;
    await later("61 seconds");
    const failures = [...(await round()).failures];
    await later("61 seconds");
    failures.push(...(await round()).failures);
    for (let turn = 0; turn < 3; turn++) {
      await t.work();
      await later("1 minute");
      await t.pawl.get(victim, good);
      await round();
    }
    expect(await t.pawl.get(victim, good)).toMatchObject({ state: "done" });
    const { state } = (await t.pawl.get(victim, bad))!;
    // A retry policy that is broken is replaced, and what a `before` returns is nobody's concern.
    if (state === "done") {
      const isHarmless = breaks.startsWith("Retry") || (breaks === "Hooks.before" && how.startsWith("returns"));
      expect(isHarmless, "it must not pass in silence").toBe(true);
      return;
    }
    const history = await t.pawl.history(victim, bad);
    const isTold = history.some((one) => one.kind === "attempt" && ["failed", "refused"].includes(one.what));
    expect(isTold || failures.some((one) => one.id === id) || state === "failed").toBe(true);
  });

  test.each(Object.keys(ways))(
    "Definition.onMove that %s is reported for its instance, and others go on",
    async (how) => {
      const [good, bad] = [`good onMove ${how}`, `bad onMove ${how}`];
      await t.pawl.start(noting, { key: bad, data: { breaks: "Definition.onMove", how } });
      await t.pawl.start(noting, { key: good, data: fine });
      await later("61 seconds");
      await round();
      expect(await t.pawl.get(noting, good)).toMatchObject({ state: "done" });
      const history = await t.pawl.history(noting, bad);
      const isTold = history.some((one) => one.kind === "attempt" && one.what === "failed");
      expect([how, isTold || (await t.pawl.get(noting, bad))!.state]).toEqual([
        how,
        how.startsWith("returns") ? "done" : true,
      ]);
    },
  );

  const starts = Object.keys(ways).flatMap((how) =>
    ["StandardSchemaV1.validate", "Moment (deadline)"].map((breaks) => [breaks, how] as const),
  );

  test.each(starts)("%s that %s refuses its own start", async (breaks, how) => {
    const start = (given: Broken) => t.pawl.start(victim, { key: `${given.breaks} ${how}`, data: given });
    const error = await start({ breaks, how }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(isPawlError(error) && error.fault !== "internal", String(error)).toBe(true);
    await start(fine);
  });

  const questions = Object.keys(ways).flatMap((how) =>
    ["Ask.sample", "RankOf"].map((breaks) => [breaks, how] as const),
  );

  test.each(questions)("%s that %s fails the instance that asks, and others are asked", async (breaks, how) => {
    const [good, bad] = [`good ${breaks} ${how}`, `bad ${breaks} ${how}`];
    await t.pawl.start(asker, { key: bad, data: { breaks, how } });
    await t.pawl.start(asker, { key: good, data: fine });
    expect((await round()).failures).toEqual([]);
    const { sample } = (await t.pawl.explain(asker, good)).waitingFor.find(({ kind }) => kind === "people") as never;
    expect(await t.pawl.people.samples(ranks)).toContainEqual(expect.objectContaining({ id: sample }));
    expect((await t.pawl.get(asker, bad))!.state).toBe("failed");
  });

  describe.each(["ScheduleDefinition.key", "StartData"])("a schedule's %s", (breaks) => {
    test.each(Object.keys(ways))("that %s costs its own tick", async (how) => {
      broken.current = fine;
      await round();
      broken.current = { breaks, how };
      await later("1 hour");
      const { ticks, failures } = await round();
      broken.current = fine;
      expect([ticks, failures.length]).toEqual([2, 1]);
    });
  });
});
