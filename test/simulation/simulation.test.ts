import { expect, test } from "vitest";
import { borrowMemoryStore } from "../../src/testing/stores.ts";
import { Coverage } from "./checks/coverage.ts";
import { planOf } from "./plan/plan.ts";
import { type Run, run } from "./run.ts";
import { shrink } from "./shrink.ts";

/** How many worlds are run, and from which seed on. */
const runs = Number(process.env.PAWL_TEST_SIMULATION ?? 3);
const firstSeed = Number(process.env.PAWL_SEED ?? 1);
const coverage = new Coverage();

test(`${runs} random worlds keep every promise, and come to rest`, { timeout: 60_000 + runs * 30_000 }, async () => {
  const began = performance.now();
  let [statements, moves, faults] = [0, 0, 0];
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    const done = await run(planOf(seed), borrowMemoryStore);
    coverage.add(done.met);
    statements += done.statements;
    moves += done.moves;
    faults += done.faults;
    if (done.findings.length > 0) expect.fail(await report(done));
  }
  if (process.env.PAWL_TEST_SIMULATION === undefined) return;
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(`${runs} worlds in ${seconds} s: ${moves} moves, ${faults} faults, ${statements} statements.\n`);
  process.stdout.write(`${coverage}\nPairs that no run has had: ${coverage.missing.join(", ") || "none"}.\n`);
});

test("one seed is one history", { timeout: 180_000 }, async () => {
  const [one, other] = [
    await run(planOf(firstSeed), borrowMemoryStore),
    await run(planOf(firstSeed), borrowMemoryStore),
  ];
  expect(other.story).toEqual(one.story);
  expect([other.moves, other.statements]).toEqual([one.moves, one.statements]);
});

/** What went wrong, in the smallest world in which it still does. */
async function report(bad: Run): Promise<string> {
  const wrong = new Set(bad.findings.map(({ invariant }) => invariant));
  let smallest = bad;
  await shrink(bad.plan, async (plan) => {
    const smaller = await run(plan, borrowMemoryStore);
    const isBad = smaller.findings.some(({ invariant }) => wrong.has(invariant));
    if (isBad) smallest = smaller;
    return isBad;
  });
  const { findings, story, plan } = smallest;
  return [
    `The world of seed ${plan.seed} breaks a promise. Repeat it with PAWL_SEED=${plan.seed} PAWL_TEST_SIMULATION=1.`,
    ...findings.map(({ invariant, message }) => `${invariant}: ${message}`),
    "",
    ...story,
    "",
    JSON.stringify({ ...plan, acts: undefined }),
  ].join("\n");
}
