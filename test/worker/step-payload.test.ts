import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { eachStore } from "../support/each-store.ts";

/** What the steps were given, in their order. */
const seen: unknown[] = [];
const once: unknown[] = [];

const order = lifecycle("order", {
  data: z.object({}),
  events: { paid: z.object({ amount: z.number() }), weighed: z.object({ kilos: z.number() }), noted: z.null() },
  initial: "open",
  states: {
    open: { forever: true, on: { paid: "packing", noted: "noting" } },
    packing: {
      run: (step) => {
        seen.push([step.attempt, step.payload]);
        if (step.attempt === 1) throw new Error("no ink");
        return step.go("weighed", { kilos: 4 });
      },
      retry: { maxAttempts: 2, backoff: () => 0 },
      on: { weighed: "shipping" },
    },
    shipping: {
      run: (step) => void seen.push(step.payload),
      on: { shipped: { to: "done", after: (effect) => void seen.push(["after", effect.payload]) } },
    },
    noting: {
      run: async (step) => {
        seen.push(step.payload);
        for (const result of [null, undefined]) once.push(await step.once(String(result), () => result as null));
        if (step.attempt === 1) throw new Error("again");
      },
      retry: { maxAttempts: 2, backoff: () => 0 },
      on: { ended: "done" },
    },
    done: { final: "success" },
  },
});

eachStore((store) => {
  test("a step gets the payload of the event that led into its state, in every attempt, claimed or granted", async () => {
    seen.length = 0;
    await using t = await store.open({ lifecycles: [order] });
    const worker = t.pawl.work({ concurrency: 2 });
    await t.pawl.start(order, { key: "a", data: {} });
    await t.pawl.send(order, "a", "paid", { amount: 7 });
    await t.pawl.wait(order, "a", { until: "done" });
    await worker.stop();
    await t.work();
    expect(seen).toEqual([[1, { amount: 7 }], [2, { amount: 7 }], { kilos: 4 }, ["after", undefined]]);
  });

  test("null stays null: in the payload of a step, of a delayed event, of a callback, and as the result of once", async () => {
    await using t = await store.open({ lifecycles: [order] });
    const bring: Record<string, (key: string) => Promise<unknown>> = {
      send: (key) => t.pawl.send(order, key, "noted", null),
      delayed: (key) => t.pawl.send(order, key, "noted", null, { after: "1m" }),
      callback: (key) => t.pawl.receive(order, key, "noted", null, { dedupeKey: key }),
    };
    for (const [key, act] of Object.entries(bring)) {
      seen.length = 0;
      once.length = 0;
      await t.pawl.start(order, { key, data: {} });
      await act(key);
      await t.advance("2m");
      await t.maintain();
      await t.work();
      await t.advance("1m");
      await t.maintain();
      await t.work();
      expect([key, ...seen]).toEqual([key, null, null]);
      expect(once).toEqual([null, undefined, null, undefined]);
      expect(await t.pawl.get(order, key)).toMatchObject({ state: "done" });
    }
  });
});
