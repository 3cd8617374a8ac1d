import { readFileSync } from "node:fs";
import { join } from "node:path";
import { testPawl } from "pawl/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { service } from "../../examples/showroom/classifier.ts";
import config from "../../examples/showroom/pawl.config.ts";
import { moderation, posting } from "../../examples/showroom/posting.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { root } from "../cli/pawl-command.ts";

let t: TestPawl;
beforeAll(async () => {
  const { seed, lifecycles, queues, schedules, breakers } = config;
  t = await testPawl({ lifecycles, queues, schedules, breakers });
  await seed!(t.pawl);
  t.pawl.work();
});
afterAll(() => t.close());

test("it is what `npm start` shows", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(scripts.start).toContain("examples/showroom/pawl.config.ts");
});

/** Time goes on while it is waited for: what failed is tried again. */
async function comesTo(what: () => Promise<string | undefined>, wanted: string): Promise<void> {
  const look = async () => {
    await t.advance("1s");
    return what();
  };
  await expect.poll(look, { timeout: 50_000 }).toBe(wanted);
}

const stateOf = (key: string) => async () => (await t.pawl.get(posting, key))?.state;

test("postings are shown, removed, given up, or decided by people", async () => {
  const { people } = t.pawl;
  await comesTo(stateOf("posting-3"), "removed");
  await comesTo(stateOf("posting-12"), "failed");
  await comesTo(stateOf("posting-2"), "in_doubt");
  const { assignment } = await people.next(moderation, "ada");
  await people.start(assignment!.id, "ada");
  const unfounded = people.submit(assignment!.id, "ada", { verdict: "remove" });
  await expect(unfounded).rejects.toMatchObject({ code: "label_invalid" });
  await people.submit(assignment!.id, "ada", { verdict: "keep" });
  await comesTo(stateOf("posting-1"), "published");
});

test("a classifier that is broken opens the breaker, and what waits goes on when it is mended", async () => {
  const { pawl } = t;
  await pawl.send(service, "classifier", "break");
  const data = { author: "ada", text: "Hello." };
  await pawl.startMany(
    posting,
    Array.from({ length: 20 }, (_, number) => ({ key: `late-${number}`, data })),
  );
  const flips = async () => (await pawl.breakers.history("classifier")).map((flip) => flip.to).join();
  await comesTo(async () => ((await flips()).includes("open") ? "open" : undefined), "open");
  await pawl.send(service, "classifier", "mend");
  await comesTo(stateOf("late-0"), "published");
});
