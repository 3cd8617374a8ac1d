import { createPawl, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { testPawl } from "../../src/testing/test-pawl.ts";
import { onPostgres } from "../setup/suites.ts";

function essay(version: number) {
  return lifecycle("essay", {
    version,
    initial: "grading",
    states: { grading: { run: (step) => step.go("graded"), on: { graded: "done" } }, done: { final: "success" } },
  });
}

onPostgres("versions of a definition", () => {
  test("a worker serves an older version that is registered only after it has started", async () => {
    await using t = await testPawl({ lifecycles: [], server: process.env.PAWL_TEST_POSTGRES_URL });
    const newer = await createPawl({ database: t.url!, lifecycles: [essay(2)], logger: false });
    await using _newer = { [Symbol.asyncDispose]: () => newer.close() };
    const worker = newer.work({ concurrency: 1 });
    const older = await createPawl({ database: t.url!, lifecycles: [essay(1)], logger: false });
    await using _older = { [Symbol.asyncDispose]: () => older.close() };
    await older.start(older.lifecycles[0]!, { key: "late" });
    const done = await older.wait(older.lifecycles[0]!, "late", { until: "done" as never, timeout: "25s" });
    expect(done.definition).toBe(2);
    await worker.stop();
  });
});
