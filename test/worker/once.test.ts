import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { eachStore } from "../support/each-store.ts";

const charges: string[] = [];
const plan: { fail: boolean; during?: () => Promise<unknown> } = { fail: false };

const order = lifecycle("order", {
  data: z.object({ charge: z.string().optional() }),
  initial: "charging",
  states: {
    charging: {
      run: async (step) => {
        const charge = await step.once("charge", async () => {
          charges.push(step.idempotencyKey);
          await plan.during?.();
          return { id: `c${charges.length}` };
        });
        if (plan.fail) throw new Error("after the charge");
        step.set({ charge: charge.id });
      },
      retry: { maxAttempts: 5, backoff: () => 0 },
      on: { charged: "done" },
    },
    done: { final: "success" },
  },
});

eachStore((store) => {
  async function open() {
    charges.length = 0;
    plan.fail = false;
    delete plan.during;
    const t = await store.open({ lifecycles: [order] });
    await t.pawl.start(order, { key: "o", data: {} });
    return t;
  }

  test("what `once` did is not done again by the next attempt, which gets the same result", async () => {
    await using t = await open();
    plan.fail = true;
    await (await t.claim("order/charging")).run();
    await t.advance("1s");
    await (await t.claim("order/charging")).run();
    await t.advance("1s");
    plan.fail = false;
    await t.work();
    expect(charges).toHaveLength(1);
    expect(await t.pawl.get(order, "o")).toMatchObject({ state: "done", data: { charge: "c1" } });
  });

  test("a worker that lost its lease keeps nothing", async () => {
    await using t = await open();
    const slow = await t.claim("order/charging");
    plan.during = () => t.advance("31s");
    await expect(slow.run()).rejects.toMatchObject({ code: "lease_lost" });
    delete plan.during;
    await t.work();
    expect(await t.pawl.get(order, "o")).toMatchObject({ data: { charge: "c2" } });
  });

  test("a new visit does it anew, with a new idempotency key", async () => {
    await using t = await open();
    await t.work();
    await t.pawl.send(order, "o", "restart");
    await t.work();
    expect(new Set(charges).size).toBe(2);
  });
});
