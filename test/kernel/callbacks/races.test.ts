import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { openOn } from "../../../src/api/open/create.ts";
import { fireTimers } from "../../../src/kernel/move/fire-timers.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import type { TestClock } from "../../../src/testing/clock.ts";
import { testPawl } from "../../../src/testing/test-pawl.ts";
import { onPostgres } from "../../setup/suites.ts";

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
        // Two sweepers against two processes that receive, some at a time; every callback comes to both.
        const receive = async (pawl: typeof t.pawl, keys: readonly string[]) => {
          const answers: Awaited<ReturnType<typeof pawl.receive>>[] = [];
          for (let at = 0; at < keys.length; at += 10) {
            const some = keys.slice(at, at + 10);
            const receiving = some.map((key) =>
              pawl.receive(kind as typeof kept, key, "graded", { score: 7 }, { dedupeKey: "r" }),
            );
            answers.push(...(await Promise.all(receiving)));
          }
          return answers;
        };
        const keys = items.map(({ key }) => key);
        const [first, second] = await Promise.all([
          receive(t.pawl, keys),
          receive(other.pawl, keys.toReversed()),
          fireTimers(other.kernel, 5),
          fireTimers(t.kernel, 20),
        ]);
        await t.maintain();
        for (const [n, { key }] of items.entries()) {
          const [callback, ...more] = await t.pawl.callbacks.list({ lifecycle: kind, instance: key });
          expect(more).toEqual([]);
          const moves = (await t.pawl.journal(kind, key)).map((move) => move.event).join(" ");
          const ending = `${moves}: ${callback!.status}${callback!.late ? " late" : ""}`;
          expect(endings[kind.name], key).toContain(ending);
          seen.set(ending, (seen.get(ending) ?? 0) + 1);
          const both = [first[n], second[together - 1 - n]];
          expect(both, key).toMatchObject([
            { accepted: true, late: callback!.late },
            { accepted: true, late: callback!.late },
          ]);
        }
      }
      expect([...seen.values()].reduce((sum, one) => sum + one, 0)).toBe(Math.ceil(races / together) * together);
      expect(await t.pawl.inspect.verify()).toEqual([]);
    } finally {
      await other.pawl.close();
    }
    if (races > 1_000) console.log(Object.fromEntries(seen));
  }, 1_800_000);
});
