import { expect, test } from "vitest";
import { openOn } from "../../src/api/open/create.ts";
import { prune } from "../../src/kernel/maintenance/prune.ts";
import { installTestClock } from "../../src/testing/clock.ts";
import { newPostgresStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";
import { check } from "./checks/checker.ts";
import { pointsMet } from "./harm/points.ts";
import { WorkerProcess } from "./harm/worker-process.ts";
import { leaf } from "./worlds/leaf.ts";

onPostgres("a process that dies while it deletes", () => {
  test("leaves nothing by halves, and another one goes on", async () => {
    const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    try {
      const { pawl } = await openOn(store.db, { lifecycles: [leaf], logger: false });
      for (const event of ["fall", "burn"] as const) {
        const { id } = await pawl.start(leaf, {});
        await pawl.send(leaf, { id }, event);
      }
      // Each takes the turn of one of the two states with it; discarded instances come in between.
      for (const point of pointsMet("a pruner")) {
        const env = { PAWL_VICTIM_URL: store.url!, PAWL_FAULT: `${point}:crash:${point === "prune.after" ? 2 : 1}` };
        expect(await new WorkerProcess(env, () => {}, "test/faults/processes/pruner-child.ts").ended, point).toBe(
          "SIGKILL",
        );
        expect(await check(store.db)).toEqual([]);
      }
      expect(await pawl.list(leaf)).toHaveLength(1);
      const clock = await installTestClock(store.db);
      await clock.set(Date.now() + 120_000); // A process that dies loses its turn after a minute.
      const { kernel } = await openOn(store.db, { lifecycles: [leaf], logger: false }, { clock });
      expect(await prune(kernel)).toMatchObject({ removed: 1 });
      expect(await check(store.db)).toEqual([]);
      expect(await pawl.list(leaf)).toEqual([]);
    } finally {
      await store.dispose();
    }
  });
});
