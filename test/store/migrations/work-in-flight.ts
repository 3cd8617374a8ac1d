import { type AnyLifecycle, createPawl, lifecycle, type Pawl, queue, schedule } from "pawl";
import { vi } from "vitest";
import { z } from "zod";
import { gateOf } from "../../support/gate.ts";
import { mixedLoad, opinions, order, part } from "../mixed-load.ts";

const essays = queue("essays", { label: z.object({ score: z.number() }), overlap: 2 });

/** While it is closed, some steps never end. */
let holds: Promise<void> | undefined;

const claim = lifecycle("claim", {
  data: z.object({ n: z.number(), score: z.number().optional() }),
  initial: "reading",
  recovery: { maxFailures: 2, after: "1h" },
  states: {
    reading: {
      run: async (step) => {
        const { n } = step.data;
        await step.once("scan", () => null);
        if (n % 4 === 0) await holds;
        if (n % 5 === 1) throw new Error("unreadable");
        return step.go("read");
      },
      uses: "reader",
      retry: { maxAttempts: 2, backoff: () => 0 },
      on: { read: [{ to: "parked", guard: ({ data }) => data.n % 2 === 0 || "odd" }, { to: "asking" }] },
    },
    parked: { release: { interval: "1m", limit: 5, send: "released" }, on: { released: "asking" } },
    asking: {
      ask: { queue: essays, sample: ({ data }) => ({ n: data.n }) },
      on: { answered: "done", unanswered: "done" },
    },
    done: { final: "success" },
  },
});

const nightly = schedule("nightly", {
  cron: "30 3 * * *",
  timezone: "Europe/Berlin",
  start: part,
  data: () => ({ n: 0 }),
});

const lifecycles: AnyLifecycle[] = [order, part, claim];

/** A Pawl with all definitions of the fixtures. */
export function openPawl(database: string): Promise<Pawl> {
  return createPawl({ database, lifecycles, queues: [opinions, essays], schedules: [nightly], logger: false });
}

/** Gives Ada the next sample, as soon as there is one. */
async function begin(pawl: Pawl): Promise<string> {
  const { id } = await vi.waitUntil(async () => (await pawl.people.next("essays", "ada")).assignment, {
    timeout: 60_000,
  });
  await pawl.people.start(id, "ada");
  return id;
}

/** Leaves work of every kind behind, some of it in the hands of workers; `dump` runs meanwhile. */
export async function leaveWork(database: string, dump: () => Promise<void>): Promise<void> {
  const held = gateOf();
  holds = held.promise;
  const pawl = await openPawl(database);
  try {
    for (const id of ["ada", "bob"]) await pawl.people.upsertLabeler({ id });
    const worker = pawl.work({ concurrency: 16 });
    await mixedLoad(pawl, 0, 15);
    for (let n = 0; n < 40; n++) await pawl.start(claim, { key: `claim-${n}`, data: { n } });
    await vi.waitUntil(async () => ((await pawl.inspect.counts(claim)).asking ?? 0) >= 16, { timeout: 60_000 });
    for (let labeled = 0; labeled < 3; labeled++) {
      await pawl.people.submit(await begin(pawl), "ada", { score: 7 });
    }
    await pawl.people.saveDraft(await begin(pawl), "ada", { score: 3 });
    await pawl.access.createToken({ name: "ci", role: "service" });
    await pawl.lanes.pause(part, { state: "pending", reason: "a test", actor: "ada" });
    await pawl.enqueue(part, { n: 1 }, { key: "paused" });
    await dump();
    held.resolve();
    await worker.stop();
  } finally {
    held.resolve();
    holds = undefined;
    await pawl.close();
  }
}

/** Finishes what `leaveWork` has left, as a Pawl of today. */
export async function finishWork(pawl: Pawl): Promise<void> {
  await pawl.lanes.resume(part, { state: "pending", actor: "ada" });
  const worker = pawl.work({ concurrency: 16 });
  await pawl.wait(part, "paused", { until: "done", timeout: "1m" });
  await vi.waitUntil(async () => (await pawl.inspect.counts(claim)).reading === undefined, { timeout: 120_000 });
  for (const labeler of ["ada", "bob"]) {
    for (;;) {
      const { assignment } = await pawl.people.next("essays", labeler);
      if (assignment === null) break;
      if (assignment.status === "pending") await pawl.people.start(assignment.id, labeler);
      await pawl.people.submit(assignment.id, labeler, { score: 7 });
    }
  }
  await worker.stop();
}
