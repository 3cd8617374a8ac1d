import { setTimeout as pause } from "node:timers/promises";
import type { Pawl } from "pawl";
import type { Random } from "../harm/random.ts";

/** The table in which writers count their messages per aggregate: the row that they lock before they publish. */
export const countersTable = "create table public.counters (id text primary key, n int not null default 0)";

/**
 * Publishes `messages` messages about `aggregates` aggregates, by eight writers at once, in transactions of random
 * duration that commit in any order. Returns the number per aggregate.
 */
export async function writeAll(
  pawl: Pawl,
  options: { messages: number; aggregates: number; random: Random; slowestMs: number },
): Promise<Map<string, number>> {
  const { aggregates, random, slowestMs } = options;
  const names = Array.from({ length: aggregates }, (_, at) => `a${at}`);
  await pawl.transaction((tx) => tx.query("insert into counters (id) select unnest($1::text[])", [names]));
  let left = options.messages;
  const writer = async (): Promise<void> => {
    while (left > 0) {
      const size = Math.min(left, 1 + random.below(8));
      left -= size;
      await writeSome(pawl, random.pick(names), size, random.below(slowestMs + 1));
    }
  };
  await Promise.all(Array.from({ length: 8 }, writer));
  const { rows } = await pawl.transaction((tx) => tx.query<{ id: string; n: number }>("select id, n from counters"));
  return new Map(rows.map(({ id, n }) => [id, n]));
}

/** Some messages about one aggregate, in one transaction. */
export async function writeSome(pawl: Pawl, id: string, messages: number, pauseMs = 0): Promise<void> {
  await pawl.transaction(async (tx) => {
    for (let count = 0; count < messages; count++) {
      const { rows } = await tx.query<{ n: number }>("update counters set n = n + 1 where id = $1 returning n", [id]);
      await pawl.publish("thing.counted", { n: rows[0]!.n }, { aggregate: { type: "thing", id }, tx });
    }
    if (pauseMs > 0) await pause(pauseMs);
  });
}
