import { createPawl } from "pawl";
import { expect, test } from "vitest";
import { durationMs } from "../../src/base/duration.ts";
import { type Db, sql } from "../../src/store/port/db.ts";
import { installTestClock } from "../../src/testing/clock.ts";
import { newPostgresStore } from "../../src/testing/stores.ts";
import { defaults } from "../../src/worker/settings.ts";
import { onPostgres } from "../setup/suites.ts";
import { check } from "./checks/checker.ts";
import { Herd } from "./harm/herd.ts";
import { holder, lifecycles } from "./worlds/relay.ts";

const leaseMs = durationMs(defaults.leaseDuration, "leaseDuration");

onPostgres("a worker that is told nothing, and killed", () => {
  /** A step that does not end, on a worker that dies with default settings; and another worker, which waits. */
  async function dieAtWork(db: Db, url: string) {
    const pawl = await createPawl({ database: url, lifecycles, logger: false });
    const herd = new Herd(url);
    const victim = herd.begin();
    const { id } = await pawl.start(holder, { data: { ms: 3_600_000 } });
    await herd.until(() => victim.holds === 1);
    const heir = herd.begin();
    await heir.ready;
    await herd.kill(victim);
    return {
      heir,
      until: (isSo: () => boolean) => herd.until(isSo),
      /** When the task was claimed, by the database's clock, and until when it is leased. */
      async claims(): Promise<{ claimed_ms: number[]; leased_ms: number; now_ms: number }> {
        const [claims] = await db.rows<{ claimed_ms: number[]; leased_ms: number; now_ms: number }>(sql`
          select array_agg(pawl.ms(claim.at) order by claim.position) as claimed_ms, pawl.ms(max(task.leased_until)) as leased_ms,
            pawl.ms(pawl.now()) as now_ms
          from pawl.attempts as claim join pawl.tasks as task on task.id = claim.instance_id
          where claim.instance_id = ${id}::uuid and claim.what = 'claimed'`);
        return claims!;
      },
      async [Symbol.asyncDispose]() {
        await herd.end();
        await pawl.close();
      },
    };
  }

  test("loses its task when its lease of 30 seconds is over, and not before", async () => {
    await using store = disposable(await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!));
    const clock = await installTestClock(store.db);
    await using t = await dieAtWork(store.db, store.url);
    const { claimed_ms: claimed, leased_ms: endMs } = await t.claims();
    expect(endMs - claimed[0]!).toBe(leaseMs);
    await clock.set(endMs - 1);
    const { looks } = t.heir;
    await t.until(() => t.heir.looks >= looks + 3);
    expect((await t.claims()).claimed_ms).toEqual(claimed);
    await clock.set(endMs);
    await t.until(() => t.heir.holds === 1);
    expect((await t.claims()).claimed_ms).toEqual([...claimed, endMs]);
    expect(await check(store.db)).toEqual([]);
  }, 60_000);

  test.skipIf(process.env.PAWL_TEST_SLOW !== "1")(
    "R96 has its task taken over within 45 seconds of its death (half a minute: PAWL_TEST_SLOW=1)",
    async () => {
      await using store = disposable(await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!));
      await using t = await dieAtWork(store.db, store.url);
      const { now_ms: diedMs } = await t.claims();
      await t.until(() => t.heir.holds === 1);
      const [, again] = (await t.claims()).claimed_ms;
      expect(again! - diedMs).toBeGreaterThan(0);
      expect(again! - diedMs).toBeLessThanOrEqual(45_000);
      expect(await check(store.db)).toEqual([]);
    },
    90_000,
  );
});

function disposable(store: Awaited<ReturnType<typeof newPostgresStore>>) {
  return { db: store.db, url: store.url!, [Symbol.asyncDispose]: () => store.dispose() };
}
