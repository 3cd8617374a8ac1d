import { type Broker, job, lifecycle, queue } from "pawl";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { openOn, type PawlOptions } from "../../src/api/open/create.ts";
import type { Db } from "../../src/store/port/db.ts";
import type { Log } from "../../src/telemetry/log.ts";
import { makeTelemetry } from "../../src/telemetry/telemetry.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";

const errand = job("errand", { run: () => wait.until });
const wait: { until: Promise<void> } = { until: Promise.resolve() };

/** The database of a test, which says when it is closed. */
function watched(t: TestPawl): { db: Db; closed: () => number } {
  const close = vi.fn(() => Promise.resolve());
  const db: Db = {
    kind: t.db.kind,
    rows: (statement) => t.db.rows(statement),
    transaction: (work) => t.db.transaction(work),
    script: (text) => t.db.script(text),
    close,
  };
  return { db, closed: () => close.mock.calls.length };
}

eachStore((store) => {
  test("whatever fails when a Pawl is closed, everything else is closed, once", async () => {
    await using t = await store.open({ lifecycles: [errand] });
    const { db, closed } = watched(t);
    const broker: Broker = {
      name: "broken",
      timeoutMs: 1_000,
      takes: () => true,
      awayMs: () => 0,
      publish: async () => {},
      close: () => Promise.reject(new Error("the broker does not close")),
    };
    const sink = {
      name: "sink",
      send: () => {},
      close: vi.fn(() => {
        throw new Error("nor does the sink");
      }),
    };
    const options: Partial<PawlOptions> = { outbox: { brokers: [broker] }, alerts: [sink] };
    const { pawl } = await openOn(db, { lifecycles: [errand], notify: false, logger: false, ...options });
    pawl.work();
    pawl.maintain();
    const closings = [pawl.close(), pawl.close()];
    for (const closing of closings) await expect(closing).rejects.toThrow("the broker does not close");
    expect(sink.close).toHaveBeenCalledTimes(1);
    expect(closed()).toBe(1);
  });

  test("drivers are stopped at once, and one that has stopped is forgotten", async () => {
    const other = gateOf();
    const silent = () => {};
    const info = (fields: object, message: string) => {
      if (message === "Worker stopped." && "worker" in fields && fields.worker !== slow.id) other.resolve();
    };
    const logger: Log = { debug: silent, warn: silent, error: silent, info };
    await using t = await store.open({ lifecycles: [errand] });
    const { pawl } = await openOn(watched(t).db, { lifecycles: [errand], notify: false, logger });
    const gone = pawl.work();
    await gone.stop();
    const stop = vi.spyOn(gone, "stop");
    const begun = gateOf();
    wait.until = other.promise;
    const slow = pawl.work({ pollInterval: 10, onMove: ({ to }) => to === "Processing" && begun.resolve() });
    await pawl.enqueue(errand, {}, { key: "slow" });
    await begun.promise;
    pawl.work({ lanes: ["errand:after"] });
    // Its step ends only when the other worker has: stopped one after the other, they would wait for the grace time.
    await pawl.close();
    expect(await t.pawl.get(errand, "slow")).toMatchObject({ state: "done" });
    expect(stop).not.toHaveBeenCalled();
  });

  test("a Pawl that cannot be opened leaves nothing behind", async () => {
    const scores = queue("scores", { label: z.object({ score: z.number() }) });
    const other = queue("scores", { label: z.object({ score: z.string() }) });
    const asks = lifecycle("asks", {
      initial: "asking",
      states: {
        asking: {
          ask: { queue: scores, sample: () => ({}) },
          forever: true,
          on: { answered: "done", unanswered: "done" },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [] });
    await (await openOn(watched(t).db, { lifecycles: [], queues: [other], logger: false })).pawl.close();
    const { db, closed } = watched(t);
    const forget = vi.fn();
    const telemetry = { ...(await makeTelemetry(false)), observe: () => forget };
    await t.db.script("alter table pawl.queues rename to queues_gone");
    await expect(openOn(db, { lifecycles: [asks] }, { telemetry })).rejects.toThrow();
    await t.db.script("alter table pawl.queues_gone rename to queues");
    expect(closed()).toBe(1);
    expect(forget).toHaveBeenCalledTimes(1);
  });
});
