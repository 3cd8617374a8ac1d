import { constant, lifecycle } from "pawl";
import { z } from "zod";
import type { TestPawl } from "../../src/testing/test-pawl.ts";

/** An order that fails in packing as its data says, and is packed once the world is mended. */
export const world = { isMended: false };

export const order = lifecycle("order", {
  data: z.object({ fault: z.string(), n: z.number() }),
  initial: "packing",
  states: {
    packing: {
      run: async ({ data }) => {
        if (!world.isMended) throw new Error(data.fault.replaceAll("%", String(data.n)));
      },
      retry: { maxAttempts: 1, backoff: constant("1s") },
      on: { packed: "sent" },
    },
    sent: { final: "success" },
  },
});

/** Starts orders and lets them all fail; each leaves a dead letter. */
export async function fail(t: TestPawl, count: number, fault = "box % is broken"): Promise<void> {
  world.isMended = false;
  await t.pawl.startMany(
    order,
    Array.from({ length: count }, (_, n) => ({ data: { fault, n } })),
  );
  await t.work();
}
