import {
  type AnyLifecycle,
  constant,
  crowd,
  type Explanation,
  type InstanceRef,
  job,
  lifecycle,
  queue,
  type WaitingFor,
} from "pawl";
import { memoryMarketplace } from "pawl/testing";
import { expect } from "vitest";
import { z } from "zod";
import { saveHeartbeat } from "../../../src/kernel/tasks/workers.ts";
import type { Db, Statement } from "../../../src/store/port/db.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };

export const report = lifecycle("report", {
  data: z.object({ held: z.boolean().default(false) }),
  events: { scored: z.object({ score: z.number() }) },
  initial: "drafting",
  recovery: { maxFailures: 2, after: "10m" },
  states: {
    drafting: {
      timeout: { after: "1h", send: "expire" },
      recoverWith: "rest",
      on: { write: "writing", ask_around: "scoring", park: "parked", rest: "resting", expire: "dropped" },
    },
    writing: {
      run: () => {},
      uses: "llm",
      retry: { maxAttempts: 4, backoff: constant("30s") },
      on: { written: { to: "resting", after: () => {} } },
    },
    scoring: {
      run: async (step) => void (await step.callbackToken("scored", { expiresIn: "2h" })),
      on: { asked: "scored_soon" },
    },
    scored_soon: {
      timeout: { after: "1d", send: "expire" },
      recoverWith: "expire",
      on: { scored: "done", expire: "dropped" },
    },
    parked: {
      release: { interval: "5m", limit: 10, send: "go" },
      on: { go: { to: "done", guard: ({ data }) => !data.held || "it is held back" } },
    },
    resting: { forever: true, recoverWith: "park", on: { finish: "done", park: "parked" } },
    done: { final: "success" },
    dropped: { final: "failure" },
  },
});

export const gated = lifecycle("gated", {
  initial: "limited",
  states: {
    limited: { run: () => {}, limit: 1, on: { next: "rated" } },
    rated: { run: () => {}, rate: "1/m", on: { next: "done" } },
    done: { final: "success" },
  },
});

export const part = lifecycle("part", {
  initial: "open",
  states: { open: { forever: true, on: { close: "closed" } }, closed: { final: "success" } },
});
export const whole = lifecycle("whole", {
  data: z.object({ parts: z.number().default(2) }),
  initial: "splitting",
  states: {
    splitting: {
      run: (step) => {
        for (let number = 1; number <= step.data.parts; number++) step.start(part, { key: `p${number}` });
      },
      on: { split: "joining" },
    },
    joining: {
      join: { failed: "count" },
      on: { joined: { to: "done", guard: ({ payload }) => payload.discarded === 0 || "a part was discarded" } },
    },
    done: { final: "success" },
  },
});

export const rare = queue("rare", { label: z.object({ ok: z.boolean() }), overlap: 2, labelers: ["ada", "bob"] });
export const claim = lifecycle("claim", {
  data: z.object({ text: z.string() }),
  initial: "asking",
  states: {
    asking: { ask: { queue: rare, sample: ({ data }) => data }, on: { answered: "done", unanswered: "failed" } },
    done: { final: "success" },
  },
});

export const receipts = crowd("receipts", { label: z.object({ total: z.number() }), marketplace: "here" });
export const expense = lifecycle("expense", {
  data: z.object({ image: z.string() }),
  initial: "reading",
  states: {
    reading: {
      ask: { crowd: receipts, sample: ({ data }) => data },
      timeout: { after: "1d", send: "expire" },
      on: { answered: "done", unanswered: "failed", expire: "done" },
    },
    done: { final: "success" },
  },
});

/** Its step and its definition contradict each other. */
export const odd = lifecycle("odd", {
  initial: "a",
  states: { a: { run: (step) => step.go("y" as "x"), retry: once, on: { x: "b" } }, b: { final: "success" } },
});

export const mail = job("mail", { run: () => {}, retry: { maxAttempts: 3, backoff: constant("1m") } });

/** A Pawl with all of them. */
export const explainWorld = () => ({
  lifecycles: [report, gated, part, whole, claim, expense, odd, mail],
  queues: [rare],
  crowds: [receipts],
  marketplaces: { here: memoryMarketplace() },
  breakers: { llm: {} },
});

/** A live worker in another process. */
export function liveWorker(t: TestPawl, lanes: readonly string[]): Promise<void> {
  const row = { id: "w", host: "h", pid: 1, pawl: "1", loop: "Idle", stopping: false, concurrency: 1 };
  return saveHeartbeat(t.kernel, { ...row, slots: {}, stuck: 0, tasks: {}, lanes });
}

/** The most statements that an explanation may take, whatever the state. */
export const mostStatements = 10;

/** How many statements a call sends, and what it returns. */
export async function counted<T>(t: TestPawl, call: () => Promise<T>): Promise<{ result: T; statements: number }> {
  const db = t.kernel.db as { rows: Db["rows"] };
  const { rows } = db;
  let statements = 0;
  db.rows = <Row>(statement: Statement) => {
    statements++;
    return rows.call(db, statement) as Promise<Row[]>;
  };
  try {
    const result = await call();
    return { result, statements };
  } finally {
    db.rows = rows;
  }
}

export async function explain(t: TestPawl, of: AnyLifecycle, ref: InstanceRef): Promise<Explanation> {
  const { result, statements } = await counted(t, () => t.pawl.explain(of, ref));
  expect(statements).toBeLessThanOrEqual(mostStatements);
  return result;
}

/** What an instance waits for, by kind. */
export function waitOf<Kind extends WaitingFor["kind"]>(explained: Explanation, kind: Kind) {
  const found = explained.waitingFor.find((one) => one.kind === kind);
  return found as Extract<WaitingFor, { kind: Kind }>;
}

export const at = (time: string) => new Date(`2030-01-01T${time}Z`);
