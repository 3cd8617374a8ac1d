import {
  type AnyLifecycle,
  exponential,
  type HookTransaction,
  type Instance,
  job,
  type Move,
  PermanentError,
  queue,
  type Step,
} from "pawl";
import { memoryBroker } from "pawl/testing";
import { expect } from "vitest";
import { z } from "zod";
import type { TestPawl, TestPawlOptions, TestWorker } from "../../src/testing/test-pawl.ts";

/** What features of one pair share: the instance that goes through both, and what was seen of it. */
export interface World {
  readonly t: TestPawl;
  readonly lifecycle: AnyLifecycle;
  readonly key: string;
  /** How often the outside had its turn. */
  readonly round: number;
  readonly seen: Map<string, unknown>;
  readonly instance: () => Promise<Instance>;
}

type AnyStep = Step<Record<string, unknown>, Record<string, undefined>>;

/**
 * One feature as a part of a lifecycle. Any two are put together into one lifecycle: `work` runs a step with what both do in
 * it, then the states of both follow, and `done` ends it.
 */
export interface Feature {
  readonly name: string;
  /** Options of the state `work`. */
  readonly work?: Readonly<Record<string, unknown>>;
  /** What its step does, before it ends. */
  readonly inStep?: (step: AnyStep, seen: Map<string, unknown>) => void | Promise<void>;
  /** Hooks of the edge that leaves `work`. */
  readonly edge?: (seen: Map<string, unknown>) => Readonly<Record<string, unknown>>;
  /** A state of its own, which leads on to `next`. */
  readonly state?: (next: string) => Readonly<Record<string, unknown>>;
  /** More of the lifecycle. */
  readonly lifecycle?: Readonly<Record<string, unknown>>;
  readonly options?: () => Partial<TestPawlOptions>;
  /** Needs a database that another process can open. */
  readonly needsServer?: boolean;
  /** What the outside does in each round, until the instance has ended. */
  readonly act?: (world: World) => Promise<void>;
  /** What must be true once it has ended. */
  readonly check: (world: World) => Promise<void>;
}

const child = job("pair_child", { payload: z.object({}), run: () => {} });
const opinions = queue("opinions", { label: z.object({ good: z.boolean() }), overlap: 1 });
const broker = memoryBroker();

/** Names what must have happened, so that a test whose feature was never at work does not pass. */
function happened(name: string) {
  return async ({ seen }: World) => expect(seen.get(name), `${name} was at work`).toBe(true);
}

function count(seen: Map<string, unknown>, name: string): number {
  const times = ((seen.get(name) as number | undefined) ?? 0) + 1;
  seen.set(name, times);
  return times;
}

/** A lane is closed in the first rounds, and nothing of it may run meanwhile. */
async function closedAtFirst(world: World, name: string, close: () => Promise<unknown>, open: () => Promise<unknown>) {
  const { round, seen } = world;
  if (round === 0) await close();
  else if (round === 2) {
    if (seen.get("ran") === undefined) seen.set(name, true);
    await open();
  }
}

export const features: readonly Feature[] = [
  {
    name: "lease",
    act: async ({ t, seen }) => {
      const lost = seen.get("holder") as TestWorker | undefined;
      if (lost !== undefined && seen.get("lost") === undefined) {
        await t.advance("31s");
        await expect(lost.report("worked")).rejects.toMatchObject({ code: "lease_lost" });
        seen.set("lost", true);
      }
      if (lost !== undefined) return;
      const holder = await t
        .claim("pair/work")
        .catch(() => t.claim("pair@1/work"))
        .catch(() => undefined);
      if (holder !== undefined) seen.set("holder", holder);
    },
    check: happened("lost"),
  },
  {
    name: "once",
    inStep: async (step, seen) => {
      await step.once("paid", () => count(seen, "paid"));
      if (count(seen, "tries of once") === 1) throw new Error("the first attempt fails after it has paid");
    },
    check: async ({ seen }) => {
      expect(seen.get("paid")).toBe(1);
      expect(seen.get("tries of once")).toBeGreaterThan(1);
    },
  },
  {
    name: "callback",
    inStep: async (step, seen) => void seen.set("token", await step.callbackToken("called")),
    state: (next) => ({ on: { called: next }, timeout: { after: "30d", send: "fail" } }),
    act: async ({ t, seen }) => {
      const token = seen.get("token") as string | undefined;
      // As soon as it is known, which is early for whatever comes before the state that waits for it.
      if (token === undefined || seen.get("called") !== undefined) return;
      seen.set("called", (await t.pawl.callbacks.receiveByToken(token, {})).accepted);
    },
    check: happened("called"),
  },
  {
    name: "progress",
    inStep: (step, seen) => {
      step.progress(0.5, "half of it");
      seen.set("progress", true);
    },
    check: happened("progress"),
  },
  {
    name: "children",
    inStep: (step) => {
      for (const key of ["a", "b"]) step.start(child, { key, data: {} });
    },
    state: (next) => ({ join: { failed: "fail" }, on: { joined: next } }),
    options: () => ({ lifecycles: [child] }),
    check: async ({ t, lifecycle, key }) => {
      const { first } = await t.pawl.children(lifecycle, key);
      const own = first.filter((one) => one.lifecycle === child.name);
      expect(own.map((one) => [one.key, one.outcome]).sort()).toEqual([
        ["a", "success"],
        ["b", "success"],
      ]);
    },
  },
  {
    name: "ask",
    state: (next) => ({
      ask: { queue: opinions, sample: () => ({ text: "?" }) },
      on: { answered: next, unanswered: next },
    }),
    act: async ({ t, seen }) => {
      const next = await t.pawl.people.next(opinions, "ada");
      if (next.assignment === null || next.assignment === undefined) return;
      await t.pawl.people.start(next.assignment.id, "ada");
      await t.pawl.people.submit(next.assignment.id, "ada", { good: true });
      seen.set("asked", true);
    },
    check: happened("asked"),
  },
  {
    name: "release",
    state: (next) => ({ release: { interval: "1m", limit: 5, send: "let_go" }, on: { let_go: next } }),
    check: moved("let_go"),
  },
  {
    name: "timer",
    state: (next) => ({ timeout: { after: "2m", send: "time_up" }, on: { time_up: next } }),
    check: moved("time_up"),
  },
  {
    name: "delayed send",
    state: (next) => ({ forever: true, on: { later: next } }),
    act: async ({ t, lifecycle, key, seen, instance }) => {
      if (seen.get("sent later") !== undefined || (await instance()).state !== "delayed_send") return;
      await (t.pawl as unknown as Untyped).send(lifecycle, key, "later", undefined, { after: "3m" });
      seen.set("sent later", true);
    },
    check: moved("later"),
  },
  {
    name: "deadline",
    lifecycle: { deadline: { within: "20d" } },
    check: async ({ t, instance }) => {
      const before = await instance();
      await t.advance("21d");
      await t.work();
      expect(await instance()).toMatchObject({ state: before.state, version: before.version });
    },
  },
  {
    name: "recovery",
    lifecycle: { recovery: { maxFailures: 5, after: "10m" } },
    inStep: (_, seen) => {
      if (count(seen, "tries of recovery") === 1) throw new PermanentError("it never works the first time");
    },
    check: moved("recover"),
  },
  {
    name: "breaker",
    work: { uses: "dependency" },
    act: async (world) => {
      const { pawl } = world.t;
      const [open, release] = ["open", null] as const;
      await closedAtFirst(
        world,
        "broken",
        () => pawl.breakers.force("dependency", open, { reason: "a test", actor: "ada" }),
        () => pawl.breakers.force("dependency", release, { actor: "ada" }),
      );
    },
    check: happened("broken"),
  },
  {
    name: "limit",
    work: { limit: 1 },
    inStep: async (_, seen) => {
      expect(seen.get("running")).not.toBe(true);
      seen.set("running", true);
      await Promise.resolve();
      seen.set("running", false);
      seen.set("limited", true);
    },
    check: happened("limited"),
  },
  {
    name: "pause",
    act: async (world) => {
      const { t, lifecycle } = world;
      const lane = { state: "work" } as never;
      await closedAtFirst(
        world,
        "paused",
        () => t.pawl.lanes.pause(lifecycle, { ...(lane as object), reason: "a test", actor: "ada" } as never),
        () => t.pawl.lanes.resume(lifecycle, lane),
      );
    },
    check: happened("paused"),
  },
  {
    name: "outbox",
    inStep: (step) => step.publish("pair.worked", { key: step.key! }),
    options: () => ({ outbox: { brokers: [broker] } }),
    check: async ({ t, key }) => {
      await t.relay();
      expect(broker.messages.filter(({ body }) => JSON.parse(body).key === key)).toHaveLength(1);
    },
  },
  {
    name: "tx",
    check: async ({ seen }) => expect(seen.get("started in tx")).toBe(true),
  },
  {
    name: "hooks",
    edge: (seen) => ({
      before: async ({ tx }: { tx: { query(text: string): Promise<unknown> } }) => {
        await tx.query("select 1");
        count(seen, "before");
      },
      after: () => {
        if (count(seen, "after") === 1) throw new Error("the first attempt of an after-effect fails");
      },
    }),
    check: async ({ t, seen }) => {
      await t.advance("10m");
      await t.work();
      expect(seen.get("before")).toBe(1);
      expect(seen.get("after")).toBe(2);
    },
  },
  {
    name: "on move",
    lifecycle: {
      onMove: async ({ tx, id, version }: Move & { tx: HookTransaction }) => {
        await tx.query(
          "create table if not exists public.pair_moves (id uuid, version int, primary key (id, version))",
        );
        await tx.query("insert into public.pair_moves values ($1, $2)", [id, version]);
      },
    },
    check: async ({ t, instance }) => {
      const { id } = await instance();
      const missed = await t.pawl.transaction((tx) =>
        tx.query(
          `select journal.version, journal.event from pawl.journal
           left join public.pair_moves as noted on noted.id = instance_id and noted.version = journal.version
           where instance_id = $1 and noted.id is null and journal.event <> 'rename'`,
          [id],
        ),
      );
      expect(missed.rows).toEqual([]);
    },
  },
  {
    name: "versions",
    needsServer: true,
    check: async ({ instance, seen }) => {
      expect(seen.get("started by an older version")).toBe(true);
      expect((await instance()).definition).toBe(2);
    },
  },
];

/** Its own event is in the journal. */
function moved(event: string) {
  return async ({ t, lifecycle, key }: World) => {
    const journal = await t.pawl.journal(lifecycle, key);
    expect(journal.map((move) => move.event)).toContain(event);
  };
}

interface Untyped {
  send(lifecycle: AnyLifecycle, key: string, event: string, payload: unknown, options: object): Promise<unknown>;
}

/** Every attempt and every failure that features cause together must fit in. */
export const patience = { maxAttempts: 6, backoff: exponential({ first: "1s", cap: "5s" }) };
