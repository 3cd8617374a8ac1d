import { createPawl } from "pawl";
import { expect, test } from "vitest";
import type { FaultPoint } from "../../src/kernel/faults.ts";
import { newPostgresStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";
import { pointsMet } from "./harm/points.ts";
import { WorkerProcess } from "./harm/worker-process.ts";
import { kid, kidsWithKey, kidsWithout, parent } from "./worlds/family.ts";

const parents = 3;

/**
 * Before the commit that starts children, after it; after events have arrived and before the sender knows; during a
 * join.
 */
const points: FaultPoint[] = ["transaction.written", "transaction.committed", ...pointsMet("a parent")];

/** A worker in a process of its own, until it has killed itself at this point. */
async function dieAt(point: FaultPoint, url: string): Promise<void> {
  const env = { PAWL_VICTIM_URL: url, PAWL_FAULT: `${point}:crash:1` };
  expect(await new WorkerProcess(env, () => {}, "test/faults/processes/family-child.ts").ended, point).toBe("SIGKILL");
}

onPostgres("a worker that is killed on the way", () => {
  test("loses no child and no letter, and starts and sends none twice", async () => {
    await Promise.all(
      points.map(async (point) => {
        const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
        const pawl = await createPawl({ database: store.url, lifecycles: [parent, kid], logger: false });
        try {
          const made = await pawl.startMany(
            parent,
            Array.from({ length: parents }, () => ({})),
          );
          await dieAt(point, store.url!);
          pawl.work({ leaseDuration: "1s", pollInterval: "20ms", maintenanceInterval: "100ms" });
          for (const { id } of made) {
            await pawl.wait(parent, { id }, { until: "done", timeout: "60s" });
            expect(await pawl.children(parent, { id }), point).toMatchObject({
              total: kidsWithKey + kidsWithout,
              succeeded: kidsWithKey + kidsWithout,
            });
            expect(
              (await pawl.journal(parent, { id })).map((move) => move.event),
              point,
            ).toEqual(["start", "borne", "told", "joined"]);
            for (const child of await pawl.list(kid, { parent: { id } })) {
              const history = await pawl.history(kid, { id: child.id });
              const words = history.map((one) => (one.kind === "move" ? one.event : one.what));
              expect(
                words.filter((word) => word === "poke" || word === "refused"),
                point,
              ).toEqual(["poke"]);
            }
          }
          expect(await pawl.inspect.verify(), point).toEqual([]);
        } finally {
          await pawl.close();
          await store.dispose();
        }
      }),
    );
  }, 120_000);
});
