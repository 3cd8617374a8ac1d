import { createPawl, isPawlError, lifecycle, type PawlError } from "pawl";
import { expect, test } from "vitest";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStoreAndPooler } from "../support/each-store.ts";

/** Why the step that ran last was told to end. */
const steps: { told: (reason: unknown) => void } = { told: () => {} };

const letter = lifecycle("letter", {
  initial: "writing",
  states: {
    writing: {
      run: (step) =>
        new Promise((_, reject) => {
          step.signal.addEventListener("abort", () => {
            steps.told(step.signal.reason);
            reject(step.signal.reason);
          });
        }),
      timeout: { after: "10m", send: "given_up" },
      retry: { maxAttempts: 1, backoff: () => 0 },
      on: { written: "done", given_up: "done", noted: {} },
    },
    done: { final: "success" },
  },
});

/** No renewal comes in a test's time: what is noticed is noticed by itself. */
const unrenewed = { leaseDuration: 3_600_000 };

eachStoreAndPooler((store) => {
  /** A worker in the middle of a step, and what the step's signal is told. */
  async function begin(t: TestPawl, work: { shutdownGrace?: number; leaseDuration?: number } = {}) {
    const { id } = await t.pawl.start(letter, {});
    const told = new Promise<PawlError>((resolve) => {
      steps.told = resolve as (reason: unknown) => void;
    });
    const worker = t.pawl.work({ leaseDuration: 300, maintenanceInterval: "1h", onFailure: () => {}, ...work });
    while (worker.slots.Processing < 1) await new Promise(setImmediate);
    return { id, told, worker };
  }
  const open = () => store.open({ lifecycles: [letter] });

  test("an event that makes the instance leave its state aborts the step as superseded; one that lets it stay does not", async () => {
    await using t = await open();
    const { id, told, worker } = await begin(t, unrenewed);
    await t.pawl.send(letter, { id }, "noted");
    await t.pawl.send(letter, { id }, "written");
    const reason = await told;
    await worker.stop();
    expect(isPawlError(reason, "step_aborted")).toBe(true);
    expect(reason.details).toMatchObject({ reason: "superseded", lane: "letter@1/writing" });
    expect(await t.pawl.get(letter, { id })).toMatchObject({ state: "done" });
  });

  test.skipIf(store.kind !== "postgres")("an event from another process aborts it as promptly", async () => {
    await using t = await store.open({ lifecycles: [letter], notify: true });
    const { id, told, worker } = await begin(t, unrenewed);
    await using other = await createPawl({ database: t.url!, lifecycles: [letter], logger: false });
    await other.send(letter, { id }, "written");
    expect((await told).details).toMatchObject({ reason: "superseded" });
    await worker.stop();
  });

  test("a timeout of the state aborts the step as timed out", async () => {
    await using t = await open();
    const { told, worker } = await begin(t, unrenewed);
    await t.db.script(
      "update pawl.test_clock set now = now + interval '10 minutes'; update pawl.tasks set leased_until = leased_until + interval '11 minutes'",
    );
    await t.maintain();
    expect((await told).details).toMatchObject({ reason: "timeout" });
    await worker.stop();
  });

  test("a lease that ran out aborts the step as lapsed, also when that was its last attempt", async () => {
    await using t = await open();
    const { id, told, worker } = await begin(t);
    await t.advance("31s");
    expect((await told).details).toMatchObject({ reason: "lapsed" });
    await worker.stop();
    expect(await t.pawl.get(letter, { id })).toMatchObject({ state: "failed" });
  });

  test("a worker that stops aborts steps that outlive their grace time", async () => {
    await using t = await open();
    const { told, worker } = await begin(t, { shutdownGrace: 0 });
    await worker.stop();
    expect((await told).details).toMatchObject({ reason: "stopping" });
  });
});
