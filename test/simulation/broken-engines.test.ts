import { readFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { borrowMemoryStore } from "../../src/testing/stores.ts";
import { type BrokenEngine, brokenEngines } from "./broken/engines.ts";
import { EngineLoader } from "./broken/load-engine.ts";
import { planOf } from "./plan/plan.ts";
import { run as runWhole } from "./run.ts";

/** A defect must show in one of so many worlds. */
const mostRuns = 15;
const all = process.env.PAWL_TEST_BROKEN_ENGINES;

/** They take minutes, and run when parts of their defects, separated by commas, or "all" are asked for. */
const isAsked = test.skipIf(all === undefined);

test("what the broken engines break is in the sources", async () => {
  const stale: string[] = [];
  for (const { file, from } of brokenEngines.flatMap(({ patches }) => patches)) {
    const code = await readFile(new URL(`../../${file}`, import.meta.url), "utf8").catch(() => "");
    if (!code.includes(from)) stale.push(`${file}: ${from}`);
  }
  expect(stale).toEqual([]);
});

let opened: Promise<EngineLoader> | undefined;
const loader = () => {
  opened ??= EngineLoader.open();
  return opened;
};
afterAll(async () => (await opened)?.close());

let caught = 0;

function chosen({ defect }: BrokenEngine): boolean {
  return all === undefined || all === "all" || all.split(",").some((one) => defect.includes(one));
}

for (const engine of brokenEngines.filter(chosen)) {
  isAsked(
    `the simulation catches an engine in which ${engine.defect} (PAWL_TEST_BROKEN_ENGINES=all)`,
    { timeout: 600_000 },
    async () => {
      const began = performance.now();
      const engines = await loader();
      const planned = engine.focus === undefined ? {} : { focus: engine.focus };
      const found = await engines.with(engine.patches, async ({ run }) => {
        for (let runs = 1; runs <= mostRuns; runs++) {
          const [first] = (await run(planOf(runs, planned), borrowMemoryStore)).findings;
          if (first !== undefined) return { runs, by: `${first.invariant}: ${first.message}` };
        }
        return undefined;
      });
      expect(found, `${mostRuns} worlds have not shown it`).toBeDefined();
      const whole = await runWhole(planOf(found!.runs, planned), borrowMemoryStore);
      expect(whole.findings, "the whole engine does the same").toEqual([]);
      caught++;
      if (all !== undefined) tell(engine, found!, (performance.now() - began) / 1_000);
    },
  );
}

function tell({ defect }: BrokenEngine, { runs, by }: { runs: number; by: string }, seconds: number): void {
  const times = `${String(runs).padStart(3)} runs ${seconds.toFixed(1).padStart(6)} s`;
  process.stdout.write(`${defect.padEnd(60)}${times}  ${by.slice(0, 100)}\n`);
}

afterAll(() => {
  if (all !== undefined) process.stdout.write(`${caught} broken engines were caught.\n`);
});
