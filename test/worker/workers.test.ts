import { hostname } from "node:os";
import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { saveHeartbeat } from "../../src/kernel/tasks/workers.ts";
import { eachStore } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";

const held = { by: Promise.resolve() };
const letter = lifecycle("letter", {
  initial: "writing",
  states: { writing: { run: () => held.by, on: { written: "done" } }, done: { final: "success" } },
});

eachStore((store) => {
  test("a worker is seen while it lives: where it runs, what its loop and slots do, and what it has in hand", async () => {
    await using t = await store.open({ lifecycles: [letter] });
    const gate = gateOf();
    held.by = gate.promise;
    await t.pawl.startMany(letter, [{}, {}]);
    const worker = t.pawl.work({ concurrency: 3 });
    while (worker.slots.Processing < 2) await new Promise(setImmediate);
    while ((await t.pawl.workers.list()).length === 0) await new Promise(setImmediate);
    const [seen] = await t.pawl.workers.list();
    expect(seen).toMatchObject({
      id: worker.id,
      host: hostname(),
      pid: process.pid,
      pawl: expect.stringMatching(/^\d+\.\d+\.\d+/),
      startedAt: t.now(),
      heartbeatAt: t.now(),
      silent: false,
      concurrency: 3,
      lanes: ["letter@1:after", "letter@1:send", "letter@1/writing"],
    });
    const stopped = worker.stop();
    while (!(await t.pawl.workers.list())[0]!.stopping) await new Promise(setImmediate);
    expect((await t.pawl.workers.list())[0]).toMatchObject({
      slots: { Claiming: 0, Processing: 2, ReportingSuccess: 0, ReportingFailure: 0 },
      tasks: { "letter@1/writing": 2 },
    });
    gate.resolve();
    await stopped;
    expect(await t.pawl.workers.list()).toEqual([]);
  });

  test("a worker that gives no sign of life is shown as silent, and forgotten after an hour", async () => {
    await using t = await store.open({ lifecycles: [letter] });
    const row = {
      host: "h",
      pid: 7,
      pawl: "1.0.0",
      stopping: false,
      concurrency: 1,
      slots: {},
      stuck: 0,
      tasks: {},
      lanes: [],
    };
    await saveHeartbeat(t.kernel, { ...row, id: "dead", loop: "Polling" });
    await t.advance("15s");
    await saveHeartbeat(t.kernel, { ...row, id: "alive", loop: "Idle" });
    expect(await t.pawl.workers.list()).toMatchObject([{ id: "dead", silent: false }, { id: "alive" }]);
    await t.advance("1ms");
    expect(await t.pawl.workers.list()).toMatchObject([
      { id: "dead", silent: true, state: "Polling" },
      { id: "alive", silent: false },
    ]);
    await t.advance("1h");
    await saveHeartbeat(t.kernel, { ...row, id: "alive", loop: "Idle" });
    await t.maintain();
    expect((await t.pawl.workers.list()).map((one) => one.id)).toEqual(["alive"]);
  });
});
