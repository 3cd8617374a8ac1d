/**
 * How fast the kernel moves instances on PostgreSQL, beside the bare SQL that writes the same rows. Machines differ and
 * are noisy: read the ratios.
 *
 *   npm run bench:kernel            20,000 instances
 *   npm run bench:kernel -- 100000
 */

import { createPawl, lifecycle, type Pawl } from "pawl";
import { startPostgres } from "../../test/setup/postgres.ts";
import { perSecond, Runs } from "../progress.ts";
import { moveBare } from "./bare.ts";

const ping = lifecycle("ping", {
  initial: "a",
  states: {
    a: { forever: true, on: { go: "b" } },
    b: { forever: true, on: { go: "c" } },
    c: { forever: true, on: { go: "d" } },
    d: { forever: true, on: { go: "e" } },
    e: { final: "success" },
  },
});
const turns = 4;
const batch = 500;
const count = Number(process.argv[2] ?? 20_000);
const rounds = 3;

const runs: Record<string, Run> = {
  "bare SQL": async (pawl) => {
    const ids = await fresh(pawl, count);
    return timed(count * turns, () => moveBare(server.url, ids, turns, batch, true));
  },
  "bare SQL, unguarded": async (pawl) => {
    const ids = await fresh(pawl, count);
    return timed(count * turns, () => moveBare(server.url, ids, turns, batch, false));
  },
  [`sendMany of ${batch}`]: async (pawl) => {
    const ids = await fresh(pawl, count);
    return timed(count * turns, async () => {
      for (let turn = 0; turn < turns; turn++) {
        for (let at = 0; at < ids.length; at += batch) {
          await pawl.sendMany(
            ping,
            ids.slice(at, at + batch).map((id) => ({ to: { id }, event: "go" as const })),
          );
        }
      }
    });
  },
  "send, 64 callers": async (pawl) => {
    const ids = await fresh(pawl, Math.ceil(count / 2));
    let next = 0;
    const caller = async (): Promise<void> => {
      for (let id = ids[next++]; id !== undefined; id = ids[next++]) await pawl.send(ping, { id }, "go");
    };
    return timed(ids.length, () => Promise.all(Array.from({ length: 64 }, caller)));
  },
  "send, one by one": async (pawl) => {
    const ids = await fresh(pawl, 1_000);
    return timed(ids.length, async () => {
      for (const id of ids) await pawl.send(ping, { id }, "go");
    });
  },
};

/** Each returns the number of moves per second. */
type Run = (pawl: Pawl) => Promise<number>;

const server = await startPostgres({ durable: true });
const pawl = await createPawl({ database: server.url, lifecycles: [ping] });
try {
  const results = new Map<string, number[]>();
  const progress = new Runs(rounds * Object.keys(runs).length);
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(runs)) {
      const speed = await progress.run(name, () => run(pawl), perSecond);
      results.set(name, [...(results.get(name) ?? []), speed]);
    }
  }
  print(results);
} finally {
  await pawl.close();
  await server.stop();
}

function print(results: ReadonlyMap<string, readonly number[]>): void {
  const median = (name: string): number =>
    [...results.get(name)!].sort((one, other) => one - other)[Math.floor(rounds / 2)]!;
  const ceiling = median("bare SQL");
  const single = median("send, one by one");
  process.stdout.write("| | moves a second | of bare SQL | of one by one |\n|---|---:|---:|---:|\n");
  for (const name of results.keys()) {
    const speed = median(name);
    process.stdout.write(
      `| ${name} | ${Math.round(speed)} | ${(speed / ceiling).toFixed(2)} | ${(speed / single).toFixed(1)} |\n`,
    );
  }
}

async function timed(moves: number, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return moves / ((performance.now() - began) / 1_000);
}

async function fresh(pawl: Pawl, many: number): Promise<string[]> {
  const made = await pawl.startMany(
    ping,
    Array.from({ length: many }, () => ({})),
  );
  return made.map((one) => one.id);
}
