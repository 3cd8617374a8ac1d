/** The files of a first project, by their names: a lifecycle, the config that names it, and a test that moves its clock. */
export const newProject: Readonly<Record<string, string>> = {
  "pawl.config.ts": `import { defineConfig } from "pawl";
import { order } from "./order.ts";

export default defineConfig({
  lifecycles: [order],

  /** Runs once, when the embedded database is new. */
  seed: (pawl) => pawl.start(order, { key: "first", data: { item: "a lamp" } }),
});
`,
  "order.ts": `import { lifecycle } from "pawl";
import { z } from "zod";

/** An order: the item is reserved, a person confirms the order, and it is shipped. */
export const order = lifecycle("order", {
  data: z.object({ item: z.string(), reservation: z.string().optional() }),
  initial: "reserving",
  states: {
    // A worker runs this, and retries it on failure.
    reserving: {
      run: async (step) => step.set({ reservation: \`\${step.data.item}, \${step.idempotencyKey}\` }),
      on: { reserved: "waiting" },
    },
    // Waits for an event, or until the timeout.
    waiting: {
      timeout: { after: "3d", send: "expire" },
      on: { confirm: "shipped", expire: "cancelled" },
    },
    shipped: { final: "success" },
    cancelled: { final: "failure" },
  },
});
`,
  "order.test.ts": `import assert from "node:assert/strict";
import { test } from "node:test";
import { testPawl } from "pawl/testing";
import { order } from "./order.ts";

test("an unconfirmed order is cancelled after three days", async () => {
  const t = await testPawl({ lifecycles: [order] });
  await t.pawl.start(order, { key: "lamp", data: { item: "a lamp" } });
  t.pawl.work();
  await t.pawl.wait(order, "lamp", { until: "waiting" });
  await t.advance("3d");
  assert.equal((await t.pawl.get(order, "lamp"))?.state, "cancelled");
  await t.close();
});
`,
};
