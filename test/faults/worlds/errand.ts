import { lifecycle } from "../../../src/definition/lifecycle.ts";
import type { Db } from "../../../src/store/port/db.ts";

/**
 * The lifecycle of the fault tests: a cycle with every kind of commit. Every call is marked by its `actor`, so the
 * journal shows how often it was applied. No schemas: programs that are killed must start quickly.
 */
export const errand = lifecycle("errand", {
  initial: "ready",
  on: { noted: {} },
  states: {
    ready: {
      forever: true,
      on: {
        turned: "away",
        booked: {
          to: "ready",
          before: async ({ actor, tx }) => {
            await tx.query("insert into booked (mark) values ($1)", [actor]);
          },
        },
        sent_to_work: "working",
        sent_to_bed: "sleeping",
        ended: { to: "over", after: () => {} },
      },
    },
    away: { forever: true, on: { turned: "ready" } },
    working: { run: async () => {}, retry: { maxAttempts: 1_000, backoff: () => 1 }, on: { worked: "ready" } },
    sleeping: { timeout: { after: 1, send: "woke" }, on: { woke: "ready" } },
    over: { final: "success" },
  },
});

/** The table of the hook of `booked`: its rows must be as many as the moves, each with the mark of its call. */
export async function createBooked(db: Db): Promise<void> {
  // One at a time: two that create the same table at once meet in the catalogue, `if not exists` or not.
  await db.script("select pg_advisory_xact_lock(1); create table if not exists public.booked (mark text)");
}
