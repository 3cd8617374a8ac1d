import { createPawl, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import { newPostgresStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";
import { gateOf } from "../support/gate.ts";
import { TcpProxy } from "./harm/tcp-proxy.ts";

const leaseMs = 3_000;
const steps: { key: string; attempt: number; signal: AbortSignal }[] = [];
const held = { until: Promise.resolve() };

const patient = lifecycle("patient", {
  initial: "waiting",
  states: {
    waiting: {
      run: async (step) => {
        steps.push({ key: step.key!, attempt: step.attempt, signal: step.signal });
        await held.until;
      },
      on: { waited: "done" },
    },
    done: { final: "success" },
  },
});

onPostgres("connections that die without a word", () => {
  test("steps keep their leases: a renewal that gets no answer is sent again over a new connection", async () => {
    const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    const { hostname: host, port } = new URL(store.url!);
    const proxy = new TcpProxy({ host, port: Number(port) });
    const gate = gateOf();
    held.until = gate.promise;
    const options = { lifecycles: [patient], logger: false } as const;
    const pawl = await createPawl({ database: await proxy.listen(store.url!), ...options });
    const other = await createPawl({ database: store.url!, ...options });
    try {
      const keys = ["a", "b", "c", "d"];
      await other.startMany(
        patient,
        keys.map((key) => ({ key })),
      );
      const work = { leaseDuration: leaseMs, maintenanceInterval: 100, onFailure: () => {} };
      pawl.work(work);
      while (steps.length < keys.length) await new Promise(setImmediate);
      await proxy.whenAnswered(/set leased_until = pawl\.now\(\)/); // The connection of the lease thread is there to be dropped.
      other.work(work); // Takes over tasks whose lease is no longer renewed.
      const leasedMs = async () => {
        const [tasks] = await store.db.rows<{ least: number }>(
          sql`select pawl.ms(min(leased_until)) as least from pawl.tasks`,
        );
        return tasks!.least;
      };
      proxy.dropAll();
      const before = await leasedMs();
      // Renewed again and again, or expired and claimed by the other worker.
      while ((await leasedMs()) < before + 2 * leaseMs && steps.length === keys.length) await new Promise(setImmediate);
      expect(steps.map(({ attempt, signal }) => [attempt, signal.aborted])).toEqual(keys.map(() => [1, false]));
      gate.resolve();
      proxy.cutAll(); // What waits for an answer to its report, too, learns that there will be none.
      for (const key of keys) {
        await other.wait(patient, key, { until: "done" });
        const history = await other.history(patient, key);
        expect(history.flatMap((one) => (one.kind === "attempt" ? [one.what] : []))).toEqual(["claimed"]);
      }
    } finally {
      gate.resolve();
      proxy.cutAll();
      await Promise.all([pawl.close(), other.close()]);
      await proxy.close();
      await store.dispose();
    }
  }, 120_000);
});
