import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { openOn } from "../../src/create.ts";
import { fire } from "../../src/kernel/fire.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import type { TestClock } from "../../src/testing/clock.ts";
import { testPawl } from "../../src/testing/test-pawl.ts";
import { onPostgres } from "../setup/suites.ts";

/** So many instances meet their result and their deadline at the same moment; 10,000 for a long run. */
const races = Number(process.env.PAWL_TEST_RACES ?? 300);
const together = 100;

function essayNamed<Name extends string>(name: Name, late: "keep" | "accept") {
  return lifecycle(name, {
    data: z.object({ score: z.number().optional() }),
    events: { graded: z.object({ score: z.number() }) },
    initial: "grading",
    deadline: { within: "20m", late },
    states: {
      grading: { on: { graded: { to: "scored", set: ({ payload }) => ({ score: payload.score }) } } },
      scored: { final: "success" },
    },
  });
}
const kept = essayNamed("kept", "keep");
const accepted = essayNamed("accepted", "accept");

/** How each of these can end: its moves, and what became of its callback. */
const endings: Record<string, readonly string[]> = {
  kept: ["start graded: applied", "start fail: kept late"],
  accepted: ["start graded: applied", "start fail accept_late: accepted late"],
};

onPostgres("callback against deadline", () => {
  test(`${races} times at the same moment: exactly one outcome each, and the loser is on record`, async () => {
    const server = process.env.PAWL_TEST_POSTGRES_URL;
    await using t = await testPawl({ lifecycles: [kept, accepted], server });
    const db = await openPostgres({ url: t.url! });
    const other = await openOn(db, { lifecycles: [kept, accepted], migrate: false, logger: false, notify: false });
    const seen = new Map<string, number>();
    try {
      for (let done = 0; done < races; done += together) {
        const kind = done % (2 * together) === 0 ? kept : accepted;
        const items = Array.from({ length: together }, (_, n) => ({ key: `${done + n}`, data: {} }));
        await t.pawl.startMany(kind as typeof kept, items);
        const clock = t.kernel.clock as TestClock;
        await clock.set(clock.nowMs() + 20 * 60_000);
        const receive = (key: string, n: number) =>
          (n % 2 === 0 ? t.pawl : other.pawl).receive(
            kind as typeof kept,
            key,
            "graded",
            { score: 7 },
            { dedupe: "r" },
          );
        // Two sweepers, two processes that receive, and every callback twice.
        const answers = await Promise.all([
          ...items.map(({ key }, n) => receive(key, n)),
          fire(other.kernel, 7),
          ...items.map(({ key }, n) => receive(key, n + 1)),
          fire(t.kernel, 11),
        ]);
        await t.maintain();
        for (const [n, { key }] of items.entries()) {
          const [callback, ...more] = await t.pawl.callbacks({ lifecycle: kind, instance: key });
          expect(more).toEqual([]);
          const moves = (await t.pawl.journal(kind, key)).map((move) => move.event).join(" ");
          const ending = `${moves}: ${callback!.status}${callback!.isLate ? " late" : ""}`;
          expect(endings[kind.name], key).toContain(ending);
          seen.set(ending, (seen.get(ending) ?? 0) + 1);
          const both = [answers[n], answers[n + together + 1]];
          expect(both, key).toMatchObject([
            { accepted: true, late: callback!.isLate },
            { accepted: true, late: callback!.isLate },
          ]);
        }
      }
      expect([...seen.values()].reduce((sum, one) => sum + one, 0)).toBe(Math.ceil(races / together) * together);
      expect(await t.pawl.verify()).toEqual([]);
    } finally {
      await other.pawl.close();
    }
    if (races > 1_000) console.log(Object.fromEntries(seen));
  }, 1_800_000);
});
