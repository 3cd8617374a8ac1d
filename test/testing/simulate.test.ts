import { isPawlError, job, lifecycle, type PawlError } from "pawl";
import { EffectLedger, memoryBroker, type SimulationReport, simulate } from "pawl/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const effects = new EffectLedger();
const done = { final: "success" } as const;

/** An order that is charged and shipped, with a bank that is asked in a certain way. */
function orderWith(charge: (step: { id: string; keyFor(name: string): string; idempotencyKey: string }) => unknown) {
  return lifecycle("order", {
    data: z.object({ amount: z.number() }),
    initial: "open",
    recovery: { maxFailures: 3, after: "10m", fallback: "reopen" },
    states: {
      open: { timeout: { after: "7d", send: "cancel" }, on: { pay: "charging", cancel: "cancelled" } },
      charging: { run: async (step) => void (await charge(step)), on: { charged: "shipping" } },
      shipping: {
        run: async (step) => {
          await effects.record("ship", { key: step.keyFor("ship"), about: step.id });
        },
        on: { shipped: "done" },
      },
      done,
      cancelled: { final: "failure" },
      failed: { on: { reopen: "open" } },
    },
  });
}

const sound = orderWith((step) => effects.record("charge", { key: step.keyFor("charge"), about: step.id }));
const forgetful = orderWith((step) => effects.record("charge", { about: step.id }));
const start = {
  order: ({ random }: { random: { int(a: number, b: number): number } }) => ({ amount: random.int(1, 9) }),
};

function chargedTwice(orders: readonly { readonly id: string }[]): string | undefined {
  const twice = orders.find(({ id }) => effects.times("charge", id) > 1);
  return twice === undefined ? undefined : `${twice.id} was charged ${effects.times("charge", twice.id)} times`;
}

/** The failure that a simulation ends with. */
async function failureOf(simulation: Promise<SimulationReport>): Promise<PawlError & { details: SimulationReport }> {
  const error: unknown = await simulation.then(
    ({ text }) => expect.fail(`it found nothing: ${text}`),
    (thrown: unknown) => thrown,
  );
  if (isPawlError(error, "simulation_failed")) return error as PawlError & { details: SimulationReport };
  throw error;
}

describe("a simulation", () => {
  test("is silent about a sound lifecycle, and tells what it came by", async () => {
    const report = await simulate({
      lifecycles: [sound],
      start,
      effects,
      invariant: {
        "an order is charged once": ({ instances }) => chargedTwice(instances.order) ?? true,
        "what is done was charged and shipped": ({ instances }) => {
          const isComplete = (id: string) => effects.times("charge", id) === 1 && effects.times("ship", id) === 1;
          return instances.order.every(({ id, state }) => state !== "done" || isComplete(id));
        },
        "at rest nothing is half done": ({ instances, atRest }) =>
          !atRest || instances.order.every(({ state }) => !["charging", "shipping"].includes(state)),
      },
    });
    expect(report).toMatchObject({ runs: 50, seed: 1, failure: null });
    expect(report.coverage.states).toEqual({ reached: 5, total: 5, never: [] });
    expect(report.coverage.events.never).toEqual(["order/reopen"]);
    expect(report.coverage.edges.never).toEqual(["order: failed -reopen-> open"]);
    expect(report.text).toContain("every invariant holds");
    expect(report.text).toContain("  order: failed -reopen-> open");
  }, 120_000);

  test("finds a payment without an idempotency key, in a few acts, and the seed repeats the same story", async () => {
    const options = {
      lifecycles: [forgetful],
      start,
      effects,
      invariant: ({ instances }: { instances: { order: readonly { id: string }[] } }) => chargedTwice(instances.order),
    } as const;
    const { message, details } = await failureOf(simulate(options));
    const { seed, invariant, story } = details.failure!;
    expect(invariant).toBe("invariant");
    expect(message).toMatch(/^The invariant is violated: order "[a-d]" was charged 2 times$/m);
    expect(message).toContain(`To repeat it: seed: ${seed}, runs: 1`);
    expect(Number(/shrunk from \d+ acts to (\d+)/.exec(message)![1])).toBeLessThanOrEqual(4);
    expect(story.filter((line) => line.includes("The effect `charge` for"))).toHaveLength(2);
    const again = await failureOf(simulate({ ...options, seed, runs: 1 }));
    expect(again.details.failure).toEqual(details.failure);
  }, 120_000);

  test("is one history for one seed, ids and random numbers included", async () => {
    const historyOf = async (seed: number) => {
      const seen: unknown[] = [];
      const report = await simulate({
        lifecycles: [forgetful],
        start: { order: () => ({ amount: Math.random() }) },
        effects,
        seed,
        runs: 6,
        invariant: ({ instances }) => {
          seen.push(
            ...instances.order.map(({ id, state, version, data, movedAt }) => [id, state, version, data, movedAt]),
          );
        },
      });
      return { seen, acts: report.acts };
    };
    const one = await historyOf(7);
    expect(await historyOf(7)).toEqual(one);
    expect((await historyOf(8)).seen).not.toEqual(one.seen);
  }, 120_000);

  test("leaves Math.random to those who run beside it", async () => {
    const before = Math.random;
    await Promise.all(
      [1, 2].map((seed) =>
        simulate({ lifecycles: [sound], start, effects: new EffectLedger(), seed, runs: 1, invariant: () => true }),
      ),
    );
    expect(Math.random).toBe(before);
  }, 60_000);
});

describe("what it finds", () => {
  test("an event that comes while a step runs", async () => {
    const order = lifecycle("order", {
      initial: "open",
      states: {
        open: { forever: true, on: { pay: "charging", cancel: "cancelled" } },
        charging: {
          run: (step) => effects.record("charge", { key: step.keyFor("charge"), about: step.id }),
          on: { charged: "done", cancel: "cancelled" },
        },
        done,
        cancelled: { final: "failure" },
      },
    });
    const { message } = await failureOf(
      simulate({
        lifecycles: [order],
        effects,
        events: { order: { charged: false, cancel: true } },
        invariant: ({ instances }) =>
          instances.order.every(({ id, state }) => state !== "cancelled" || effects.times("charge", id) === 0),
      }),
    );
    expect(message).toContain("`cancel`");
    expect(message).toContain("The effect `charge` for order");
  }, 120_000);

  test("an external effect that a hook repeats when two callers race, and a result that comes twice", async () => {
    let free = 1;
    const seat = lifecycle("seat", {
      events: { booked: z.object({ by: z.string() }) },
      initial: "free",
      states: {
        free: { forever: true, on: { booked: "confirming" } },
        confirming: { forever: true, on: { booked: { set: () => ({}), guard: () => true }, confirmed: "done" } },
        done,
      },
    });
    const { message } = await failureOf(
      simulate({
        lifecycles: [seat],
        callbacks: { seat: { booked: ({ random }) => ({ by: random.pick(["ada", "ben"]) }) } },
        beforeEach: () => {
          free = 1;
        },
        invariant: async ({ instances, pawl }) => {
          for (const { id } of instances.seat) {
            const taken = (await pawl.journal(seat, { id })).filter(({ event }) => event === "booked").length;
            if (taken > free) return `${id} was booked ${taken} times`;
          }
          return true;
        },
      }),
    );
    expect(message).toMatch(/A service brings `booked` \{"by":"(ada|ben)"\} to seat "[a-d]": applied\./);
  }, 120_000);

  test("a child that fails for good while its parent waits for ever", async () => {
    const child = lifecycle("child", {
      initial: "working",
      states: { working: { run: () => {}, on: { worked: "done" } }, done },
    });
    const parent = lifecycle("parent", {
      initial: "starting",
      states: {
        starting: {
          run: (step) => {
            for (const key of ["x", "y"]) step.start(child, { key });
          },
          on: { started: "joining" },
        },
        joining: { join: { failed: "wait" }, timeout: { after: "300d", send: "fail" }, on: { joined: "done" } },
        done,
      },
    });
    const { message, details } = await failureOf(
      simulate({
        lifecycles: [parent, child],
        start: { parent: () => ({}) },
        weights: { discard: 0, recover: 0 },
        invariant: {
          "no parent waits at rest": ({ instances, atRest }) =>
            !atRest || instances.parent.every(({ state }) => state !== "joining"),
        },
      }),
    );
    expect(details.failure).toMatchObject({ invariant: "no parent waits at rest" });
    expect(message).toContain('The invariant "no parent waits at rest" is violated: it is false');
    expect(message).toMatch(/A worker runs `working` of child "[xy]" of parent "[a-d]"/);
  }, 120_000);

  test("a restart that pays again, where restarts are asked for, and nothing of the kind where they are not", async () => {
    const given = {
      lifecycles: [sound],
      start,
      effects,
      runs: 30,
      invariant: ({ instances }: { instances: { order: readonly { id: string }[] } }) => chargedTwice(instances.order),
    } as const;
    const { message } = await failureOf(simulate({ ...given, weights: { restart: 5 } }));
    expect(message).toContain("An operator sends `restart` (taken)");
  }, 120_000);

  test("a message that is consumed twice, and a job whose payload was made by a generator", async () => {
    const broker = memoryBroker();
    const seen: string[] = [];
    broker.on("sent", ({ body }) => void seen.push(body));
    const mail = job("mail", {
      payload: z.object({ to: z.string() }),
      run: (step) => step.publish("sent", { to: step.payload.to, nothing: step.id.slice(0, 0) }),
    });
    const { message } = await failureOf(
      simulate({
        lifecycles: [mail],
        start: { mail: ({ key }) => ({ to: `${key}@example.com` }) },
        outbox: { brokers: [broker] },
        weights: { crash: 8, relay: 8 },
        beforeEach: () => void seen.splice(0),
        invariant: ({ instances }) => seen.length <= instances.mail.length || `${seen.length} messages were consumed`,
      }),
    );
    expect(message).toMatch(/A caller starts mail "[a-d]" with \{"to":"[a-d]@example\.com"\}/);
    expect(message).toMatch(
      /The process dies after (a message was handed to its broker|the broker confirmed a message)/,
    );
  }, 240_000);
});

describe("stand-ins and generators", () => {
  test("a fake step takes the place of the real one, and may fail", async () => {
    let calls = 0;
    const report = await simulate({
      lifecycles: [sound],
      start,
      runs: 5,
      steps: {
        "order/charging": async (step) => {
          calls += 1;
          if (step.attempt === 1) throw new Error(`no money for ${step.data.amount}`);
          return step.go("charged");
        },
      },
      effects,
      invariant: ({ effects: ledger }) => ledger.times("charge") === 0,
    });
    expect(calls).toBeGreaterThan(2);
    expect(report.coverage.states.never).not.toContain("order/shipping");
  }, 60_000);

  test("events that callers do not send by themselves are sent when asked for; others are named", async () => {
    const essay = lifecycle("essay", {
      events: { graded: z.object({ score: z.number() }) },
      initial: "grading",
      states: { grading: { forever: true, on: { graded: "done", note: {} } }, done },
    });
    const given = { lifecycles: [essay], runs: 5, invariant: () => true } as const;
    const silent = await simulate(given);
    expect(silent.coverage.unsent).toEqual(["essay/graded"]);
    expect(silent.text).toContain("Events that were not sent, because `events` has no payload for them: essay/graded.");
    const sent = await simulate({
      ...given,
      events: { essay: { graded: ({ random }) => ({ score: random.int(1, 9) }), note: false } },
    });
    expect(sent.coverage).toMatchObject({ unsent: [], events: { never: ["essay/note"] } });
  }, 60_000);
});
