import { lifecycle, PermanentError } from "pawl";
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

const paid: string[] = [];
const keys = new Map<string, Set<string>>();
const seen = (what: string, key: string) => keys.set(what, (keys.get(what) ?? new Set()).add(key));

/** Pays, fails in the state after that, and begins again at its checkpoint. */
const payout = lifecycle("payout", {
  data: z.object({ receipt: z.string().optional() }),
  initial: "paying",
  recovery: { maxFailures: 3, after: "10m" },
  states: {
    paying: {
      run: async (step) => {
        seen("visit", step.idempotencyKey);
        const receipt = await step.once("payout", { scope: "instance" }, () => {
          paid.push(step.keyFor("payout"));
          return `r${paid.length}`;
        });
        seen("instance", step.keyFor("payout"));
        step.set({ receipt });
      },
      on: { paid: { to: "booking", after: (effect) => seen("effect", effect.keyFor("payout")) } },
    },
    booking: {
      run: () => {
        throw new PermanentError("the ledger is closed");
      },
      on: { booked: "done" },
      checkpoint: "paying",
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

  test("L3 with the scope of the instance it is done once over visits and recoveries, under one key, until a restart", async () => {
    paid.length = 0;
    keys.clear();
    await using t = await store.open({ lifecycles: [payout] });
    await t.pawl.start(payout, { key: "p" });
    for (let failures = 0; failures < 3; failures++) {
      await t.work();
      await t.advance("10m");
    }
    await t.work();
    expect(await t.pawl.get(payout, "p")).toMatchObject({ state: "failed", data: { receipt: "r1" } });
    expect(paid).toHaveLength(1);
    expect(keys.get("visit")!.size).toBe(3);
    expect(keys.get("instance")!.size).toBe(1);
    expect(keys.get("effect")).toEqual(keys.get("instance"));
    await t.pawl.send(payout, "p", "restart");
    await t.work();
    expect(paid).toHaveLength(2);
    expect(keys.get("instance")!.size).toBe(2);
  });

  test("`once` and `keyFor` refuse what they cannot use", async () => {
    const refused: unknown[] = [];
    const steps = {
      "order/charging": async (step: Record<"once" | "keyFor", (...given: unknown[]) => unknown>) => {
        const attempts = [
          () => step.once("a", { scope: "world" }, () => 1),
          () => step.once("a", { scop: "instance" }, () => 1),
          () => step.once("a", { scope: "instance" }),
          () => step.once("a"),
          () => step.once("", () => 1),
          () => step.keyFor(""),
          () => step.keyFor(undefined),
        ];
        for (const attempt of attempts) {
          await Promise.resolve()
            .then(attempt)
            .catch((error) => refused.push(error.code));
        }
      },
    };
    await using t = await store.open({ lifecycles: [order], steps });
    await t.pawl.start(order, { key: "o", data: {} });
    await t.work();
    expect(refused).toEqual(Array(7).fill("option_invalid"));
  });

  test("a new visit does it anew, with a new idempotency key", async () => {
    await using t = await open();
    await t.work();
    await t.pawl.send(order, "o", "restart");
    await t.work();
    expect(new Set(charges).size).toBe(2);
  });
});
