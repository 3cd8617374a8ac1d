import { lifecycle, type WorkerMove } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { loopStates, slotStates, workerMoves } from "../../src/worker/states.ts";
import { eachStoreAndPooler } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";
import { WatchedWorker } from "../support/watched-worker.ts";

/** Ends the steps that hang; new in each test. */
let gate = gateOf();

const task = lifecycle("task", {
  data: z.object({ does: z.enum(["succeed", "fail", "hang"]) }),
  initial: "work",
  states: {
    work: {
      run: async (step) => {
        if (step.data.does === "fail") throw new Error("No ink.");
        if (step.data.does === "hang") await gate.promise;
      },
      retry: { maxAttempts: 3, backoff: () => 0 },
      on: { ok: "done" },
    },
    done: { final: "success" },
  },
});

/** The transitions that S3 lists by name; the sixteenth leads from any state into ErrorWait. */
const transitions = [
  "Startup → Connecting",
  "Connecting → Recovery",
  "Connecting → ErrorWait",
  "Recovery → Polling",
  "Polling → Claiming",
  "Polling → Backoff",
  "Backoff → Idle",
  "Idle → Connecting",
  "Claiming → Processing",
  "Claiming → Polling",
  "Processing → ReportingSuccess",
  "Processing → ReportingFailure",
  "ReportingSuccess → Polling",
  "ReportingFailure → Polling",
  "ErrorWait → Connecting",
];

/** Without this table no worker can read its lanes. */
const hideLifecycles = (t: TestPawl) => t.db.script("alter table pawl.lifecycles rename to lifecycles_hidden");
const showLifecycles = (t: TestPawl) => t.db.script("alter table pawl.lifecycles_hidden rename to lifecycles");

/** Whether the worker shows the state that it has just entered. */
function shows({ worker }: WatchedWorker, { from, to }: WorkerMove): boolean {
  const slot = slotStates.find((state) => state === to);
  if (slot !== undefined) return worker.slots[slot] > 0;
  return slotStates.some((state) => state === from) || worker.state === to;
}

eachStoreAndPooler((store) => {
  const open = () => store.open({ lifecycles: [task] });

  test("R93 one worker makes all sixteen moves between the eleven states and no other, and shows each state", async () => {
    gate = gateOf();
    await using t = await open();
    const hidden: WorkerMove[] = [];
    const seen = new Set<string>(["Startup"]);
    await hideLifecycles(t);
    const watched: WatchedWorker = new WatchedWorker(
      t.pawl,
      { prefetch: 1, pollInterval: 10, leaseDuration: 300 },
      (move) => {
        seen.add(move.to);
        if (move.from !== "Startup" && !shows(watched, move)) hidden.push(move);
      },
    );
    await watched.made("Connecting → ErrorWait");
    await showLifecycles(t);
    await watched.made("ErrorWait → Connecting");
    await watched.made("Idle → Connecting");
    await t.pawl.start(task, { data: { does: "succeed" } });
    await watched.made("ReportingSuccess → Polling");
    await t.pawl.start(task, { data: { does: "fail" } });
    await watched.made("ReportingFailure → Polling");
    await t.pawl.start(task, { key: "runs", data: { does: "hang" } });
    await t.pawl.start(task, { key: "waits", data: { does: "succeed" } });
    while (watched.worker.slots.Claiming < 1 || watched.worker.slots.Processing < 1) await new Promise(setImmediate);
    await t.pawl.send(task, "waits", "discard");
    await watched.made("Claiming → Polling");
    gate.resolve();
    await t.pawl.wait(task, "runs", { until: "done" });
    t.faults.plant("claim.before", "throw");
    await watched.made("Polling → ErrorWait");
    await watched.worker.stop();
    expect(new Set(watched.moves)).toEqual(new Set([...transitions, "Polling → ErrorWait"]));
    expect(seen).toEqual(new Set([...loopStates, ...slotStates]));
    expect(seen.size).toBe(11);
    expect(workerMoves.map(([from, to]) => `${from} → ${to}`)).toEqual(transitions);
    expect(hidden).toEqual([]);
    expect(Object.values(watched.worker.slots)).toEqual([0, 0, 0, 0]);
  }, 30_000);

  test("R92 any unhandled exception leads to ErrorWait for 5 s, then to Connecting, and work goes on", async () => {
    const inEach: Readonly<Record<string, (t: TestPawl) => unknown>> = {
      Connecting: hideLifecycles,
      Polling: (t) => t.faults.plant("claim.before", "throw"),
      Processing: (t) => t.faults.plant("run.before", "throw"),
      "Processing once the step has ended": (t) => t.faults.plant("run.after", "throw"),
    };
    const fails = async ([where, prepare]: [string, (t: TestPawl) => unknown]) => {
      await using t = await open();
      await t.pawl.start(task, { key: "a", data: { does: "succeed" } });
      await prepare(t);
      const waits: (number | undefined)[] = [];
      const watched: WatchedWorker = new WatchedWorker(t.pawl, { pollInterval: 10 }, ({ to, restMs }) => {
        if (to === "ErrorWait" && watched?.worker.state === "ErrorWait") waits.push(restMs);
      });
      await watched.made(`${where.split(" ")[0]} → ErrorWait`);
      if (where === "Connecting") await showLifecycles(t);
      await watched.made("ErrorWait → Connecting");
      // The lease of a task that was in hand lapses.
      await t.db.script("update pawl.test_clock set now = now + interval '31 seconds'");
      await t.pawl.wait(task, "a", { until: "done" });
      await watched.worker.stop();
      expect(waits, where).toEqual([5_000]);
      expect(watched.failures, where).toHaveLength(1);
      expect(Object.values(watched.worker.slots), where).toEqual([0, 0, 0, 0]);
    };
    await Promise.all(Object.entries(inEach).map(fails));
  }, 60_000);

  test("R92 a round of maintenance that fails is reported, and leads to Polling all the same", async () => {
    await using t = await open();
    t.faults.plant("lapse.read", "throw");
    const watched = new WatchedWorker(t.pawl, { pollInterval: 10 });
    await watched.made("Idle → Connecting");
    await watched.worker.stop();
    expect(watched.failures).toHaveLength(1);
    expect(watched.moves).not.toContain("Recovery → ErrorWait");
  });
});
