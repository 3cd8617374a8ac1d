import { type Alert, constant, job, lifecycle } from "pawl";
import { memoryBroker } from "pawl/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore } from "../support/each-store.ts";

/** What fails at the moment. */
const world = { isBroken: true };

const parcel = lifecycle("parcel", {
  data: z.object({ note: z.string().optional() }),
  initial: "packing",
  states: {
    packing: {
      run: () => {
        if (world.isBroken) throw new Error("no tape");
      },
      retry: { maxAttempts: 5, backoff: constant("5m") },
      on: { packed: "waiting" },
    },
    waiting: { timeout: { after: "30m", send: "called" }, on: { called: "parked", noted: {} } },
    parked: { release: { interval: "10m", limit: 10, send: "go" }, on: { go: "sent" } },
    sent: { final: "success" },
  },
});
const mail = job("mail", { payload: z.object({}), run: () => {} });

/** Sets the database's clock, of which the process learns by its answers only. */
async function jump(t: TestPawl, by: string): Promise<void> {
  await t.db.script(`update pawl.test_clock set now = now + interval '${by.replace(/m$/, " minutes")}'`);
  await t.maintain();
}

const dueInMs = async (t: TestPawl, table: "tasks" | "timers") => {
  const [row] = await t.db.transaction(
    async (tx) =>
      (await tx.query<{ ms: number }>(`select pawl.ms(due_at) - pawl.ms(pawl.now()) as ms from pawl.${table}`)).rows,
  );
  return row!.ms;
};

eachStore((store) => {
  const open = (log: CapturedLog, heard: Alert[] = []) =>
    store.open({
      lifecycles: [parcel, mail],
      logger: log,
      outbox: { brokers: [memoryBroker()] },
      alerts: [{ name: "kept", send: (alert: Alert) => void heard.push(alert) }],
    });

  test("W6 a retry that was set while the clock was ahead keeps its delay, and one alert tells of the jump", async () => {
    const [log, heard] = [new CapturedLog(), [] as Alert[]];
    await using t = await open(log, heard);
    world.isBroken = true;
    await t.maintain();
    await jump(t, "1h");
    await t.pawl.start(parcel, { key: "p", data: {} });
    await t.work();
    expect(await dueInMs(t, "tasks")).toBe(300_000);
    await jump(t, "-1h");
    expect(await dueInMs(t, "tasks")).toBe(300_000);
    await t.maintain();
    await t.deliverAlerts();
    expect(heard).toMatchObject([{ kind: "clock_set_back", details: { seconds: 3_600, retries: 1, waiting: 0 } }]);
    expect(log.said("warn")).toContainEqual(expect.stringContaining("The database's clock was set back by 3600 s"));
    world.isBroken = false;
    await jump(t, "5m");
    await t.work();
    expect((await t.pawl.get(parcel, "p"))!.state).toBe("waiting");
  });

  test("W6 timeouts, delayed events and starts at a set time are left alone, and the alert counts who waits", async () => {
    const heard: Alert[] = [];
    await using t = await open(new CapturedLog(), heard);
    world.isBroken = false;
    await t.maintain();
    await jump(t, "1h");
    await t.pawl.start(parcel, { key: "p", data: {} });
    await t.work();
    await t.pawl.enqueue(mail, {}, { key: "m", after: "2h" });
    await jump(t, "-1h");
    expect(await dueInMs(t, "timers")).toBe(90 * 60_000);
    expect(await dueInMs(t, "tasks")).toBe(3 * 3_600_000);
    await t.deliverAlerts();
    expect(heard).toMatchObject([{ kind: "clock_set_back", details: { retries: 0, waiting: 1 } }]);
    expect(heard[0]!.message).toContain("1 instances that moved before that wait");
  });

  test("W6 a parked state is released in its rhythm, and a message goes on, after the clock was ahead", async () => {
    await using t = await open(new CapturedLog());
    world.isBroken = false;
    await t.pawl.start(parcel, { key: "p", data: {} });
    await t.work();
    await t.pawl.send(parcel, "p", "called");
    await t.maintain();
    await jump(t, "1h");
    const shipped = (await t.pawl.get(parcel, "p"))!.state;
    expect(shipped).toBe("sent");
    await t.pawl.start(parcel, { key: "q", data: {} });
    await t.work();
    await t.pawl.send(parcel, "q", "called");
    await t.maintain();
    await jump(t, "-1h");
    await jump(t, "10m");
    expect((await t.pawl.get(parcel, "q"))!.state).toBe("sent");
  });

  test("W6 the task of a worker that died while the clock was ahead comes back in time", async () => {
    await using t = await open(new CapturedLog());
    world.isBroken = false;
    await t.maintain();
    await jump(t, "1h");
    await t.pawl.start(parcel, { key: "p", data: {} });
    await t.claim("parcel/packing");
    await jump(t, "-1h");
    await jump(t, "31s");
    await t.work();
    expect((await t.pawl.get(parcel, "p"))!.state).toBe("waiting");
  });

  test("a clock that is set back by less than a minute is left to catch up", async () => {
    const heard: Alert[] = [];
    await using t = await open(new CapturedLog(), heard);
    await t.maintain();
    await jump(t, "-50s");
    await t.deliverAlerts();
    expect(heard).toEqual([]);
  });
});
