import type { Pawl } from "../../../src/api/pawl.ts";
import { isPawlError } from "../../../src/base/errors.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { claimFromLanes, renewTaskLeases } from "../../../src/kernel/tasks/claim.ts";
import { report } from "../../../src/kernel/tasks/report.ts";
import type { Outcome } from "../../../src/kernel/types/outcome.ts";
import { maintain } from "../../../src/maintenance/round.ts";
import { type Answer, type Book, reportMark } from "../checks/ledger.ts";
import { errand } from "../worlds/errand.ts";
import type { Random } from "./random.ts";

/** What callers work with. */
export interface Desk {
  /** Begins every mark and key of this process. */
  readonly name: string;
  readonly pawl: Pawl;
  readonly kernel: Kernel;
  readonly lanes: readonly string[];
  readonly random: Random;
  readonly book: Book;
  /** Instances that are known so far. */
  readonly keys: string[];
  /** Resolves when a retry makes sense after the database could not be reached. */
  readonly whenBack: () => Promise<void>;
}

type Event = "noted" | "turned" | "booked" | "sent_to_work" | "sent_to_bed";

const events: readonly Event[] = ["noted", "noted", "turned", "booked", "sent_to_work", "sent_to_bed"];
let marks = 0;

/** Each kind of call, once: recorded before, and its result after. */
const calls: Readonly<Record<string, (desk: Desk) => Promise<unknown>>> = {
  start: (desk) => startKnown(desk),
  startMany: (desk) => {
    const keys = [0, 1, 2].map(() => newMark(desk));
    return told(desk, "startMany", 3, async (actor) => {
      await desk.pawl.startMany(
        errand,
        keys.map((key) => ({ key })),
        { actor },
      );
      desk.keys.push(...keys);
    });
  },
  send: (desk) => send(desk, desk.random.pick(desk.keys), desk.random.pick(events)),
  // Without a pause between them: they become one commit, some of them to the same instance.
  group: (desk) => Promise.all(Array.from({ length: 6 }, () => send(desk, desk.random.pick(desk.keys), "noted"))),
  sendMany: async (desk) => {
    const items = Array.from({ length: 4 }, () => ({
      to: desk.random.pick(desk.keys),
      event: desk.random.pick(events),
      actor: newMark(desk),
    }));
    for (const { actor } of items) desk.book.begin(actor, 1);
    const answers = await desk.pawl.sendMany(errand, items);
    for (const [index, one] of answers.entries()) {
      desk.book.answer(items[index]!.actor, one.ok ? "done" : answerOf(one.error));
    }
    if (answers.some((one) => !one.ok && isPawlError(one.error, "database_unreachable"))) await desk.whenBack();
  },
  book: (desk) => send(desk, desk.random.pick(desk.keys), "booked"),
  later: (desk) =>
    told(desk, "later", 1, (actor) =>
      desk.pawl.send(errand, desk.random.pick(desk.keys), "noted", { actor, after: 1 }),
    ),
  transaction: (desk) =>
    told(desk, "transaction", 1, (actor) =>
      desk.pawl.transaction((tx) => desk.pawl.send(errand, desk.random.pick(desk.keys), "booked", { actor, tx })),
    ),
  end: async (desk) => {
    const key = `end:${newMark(desk)}`;
    if (!(await start(desk, key))) return;
    await told(desk, "end", 1, (actor) => desk.pawl.send(errand, key, "ended", { actor }));
  },
  receive: (desk) => receive(desk, desk.random.pick(desk.keys), desk.random.pick(["noted", "turned", "booked"])),
  work,
  // Maintenance has no caller: its effects are seen by its moves alone.
  maintain: (desk) => told(desk, "maintain", 0, () => maintain(desk.kernel, desk.lanes)),
};

/** Every kind of call in parallel, each again and again until the end. */
export async function callUntil(desk: Desk, isOver: () => boolean): Promise<void> {
  while (!(await startKnown(desk)));
  await Promise.all(
    Object.values(calls).map(async (call) => {
      while (!isOver()) {
        await call(desk);
        await new Promise(setImmediate); // Yields to others even when all answers come from memory.
      }
    }),
  );
}

async function start(desk: Desk, key: string): Promise<boolean> {
  return (await told(desk, "start", 1, (actor) => desk.pawl.start(errand, { key, actor }))) === "done";
}

async function startKnown(desk: Desk): Promise<boolean> {
  const key = newMark(desk);
  const started = await start(desk, key);
  if (started) desk.keys.push(key);
  return started;
}

function send(desk: Desk, key: string, event: Event): Promise<Answer> {
  return told(desk, "send", 1, (actor) => desk.pawl.send(errand, key, event, { actor }));
}

/** A waiting callback may be applied by any process that moves its instance to a state that accepts it. */
async function receive(desk: Desk, key: string, event: "noted" | "turned" | "booked"): Promise<void> {
  const mark = `${newMark(desk)} receive`;
  desk.book.begin(mark, 1);
  const received = await tolerant(desk, () => desk.pawl.receive(errand, key, event, { dedupeKey: mark, actor: mark }));
  if (received?.status === "applied") desk.book.answer(mark, "done");
}

async function work(desk: Desk): Promise<void> {
  const tasks = await tolerant(desk, () =>
    claimFromLanes(desk.kernel, { lanes: desk.lanes, limit: 4, share: 4, worker: desk.name, leaseMs: 300 }),
  );
  if (tasks === undefined || tasks.length === 0) return;
  const leases = tasks.map((one) => one.lease);
  await tolerant(desk, () => renewTaskLeases(desk.kernel, leases, 300));
  const outcomes = tasks.map((one): Outcome => {
    if (one.kind === "effect") return { kind: "done" };
    const chance = desk.random.below(8);
    if (chance === 0) return { kind: "failed", error: new Error("tired") };
    if (chance === 1) return { kind: "released" };
    if (chance === 2) return { kind: "retry_later", afterMs: 1, reason: null };
    return { kind: "event", event: "worked", payload: undefined, patch: {}, messages: [] };
  });
  const steps = tasks.filter((one) => one.kind === "step");
  for (const step of steps) desk.book.begin(reportMark(step.lease.token), 1);
  const results = await tolerant(desk, () =>
    report(
      desk.kernel,
      tasks.map((one, index) => ({ task: one, outcome: outcomes[index]! })),
    ),
  );
  for (const [index, one] of tasks.entries()) {
    const result = results?.[index];
    if (one.kind !== "step" || result === undefined) continue;
    desk.book.answer(reportMark(one.lease.token), result === "written" ? "done" : "not done");
  }
}

/** One call with its mark, recorded before and after. A result that is neither done nor refused is rethrown. */
async function told(desk: Desk, what: string, rows: number, call: (mark: string) => Promise<unknown>): Promise<Answer> {
  const mark = `${newMark(desk)} ${what}`;
  desk.book.begin(mark, rows);
  let answer: Answer;
  try {
    await call(mark);
    answer = "done";
  } catch (error) {
    answer = answerOf(error);
    if (isPawlError(error, "database_unreachable")) await desk.whenBack();
  }
  desk.book.answer(mark, answer);
  return answer;
}

/** A worker's own statement: when it fails, the worker simply does not know. */
async function tolerant<T>(desk: Desk, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    answerOf(error);
    if (isPawlError(error, "database_unreachable")) await desk.whenBack();
    return undefined;
  }
}

const refusals = ["transition_refused", "instance_unknown", "database_unreachable", "busy"] as const;

function answerOf(error: unknown): Answer {
  if (isPawlError(error, "outcome_unknown")) return "unknown";
  if (refusals.some((code) => isPawlError(error, code))) return "not done";
  throw error;
}

function newMark(desk: Desk): string {
  return `${desk.name}.${++marks}`;
}
