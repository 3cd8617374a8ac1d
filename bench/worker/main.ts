/**
 * What a worker costs, and how it bears company on PostgreSQL: beside a ceiling of bare SQL, with millions of rows that
 * are not its own, with a snapshot held open elsewhere, over a million tasks. Machines differ and are noisy: read the
 * ratios. It runs the built package.
 *
 *   npm run bench:worker
 *   npm run bench:worker -- --only ceiling,log --count 20000
 */

import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createPawl, job, lifecycle, type Pawl } from "pawl";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../../test/setup/postgres.ts";
import { Runs } from "../progress.ts";
import { chainBare } from "./bare.ts";
import { fillOtherLanes } from "./fill-other-lanes.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20000" },
    rounds: { type: "string", default: "3" },
    beside: { type: "string", default: "1000000" },
    tasks: { type: "string", default: "1000000" },
    hold: { type: "string", default: "60" },
    only: { type: "string", default: "ceiling,log,beside,snapshot,memory" },
  },
});
const count = Number(values.count);
const rounds = Number(values.rounds);
const beside = Number(values.beside);
const tasks = Number(values.tasks);
const holdSeconds = Number(values.hold);

let ran = 0;
const run = (): void => {
  ran += 1;
};
const chain = lifecycle("chain", {
  initial: "one",
  states: {
    one: { run, on: { next: "two" } },
    two: { run, on: { next: "three" } },
    three: { run, on: { next: "four" } },
    four: { run, on: { next: "five" } },
    five: { run, on: { next: "done" } },
    done: { final: "success" },
  },
});
const single = job("single", { run });

/** Each prints a line or two. */
const sections: Record<string, (pawl: Pawl, server: PostgresServer) => Promise<void>> = {
  async ceiling(pawl, server) {
    const bare: number[] = [];
    const own: number[] = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await chainBare(server.url, count));
      own.push(await runChain(pawl, count));
    }
    line("five states, bare SQL", `${whole(middle(bare))} moves/s`, "1.00");
    line("five states, Pawl's worker", `${whole(middle(own))} moves/s`, ratio(middle(own), middle(bare)));
  },
  async log(pawl, server) {
    const before = await written(server.url);
    await runChain(pawl, count);
    const after = await written(server.url);
    const moves = count * 6; // The start is one, too.
    line("WAL a move", `${whole((after.wal - before.wal) / moves)} bytes`, "");
    line("commits a move", ((after.commits - before.commits) / moves).toFixed(4), "");
  },
  async beside(pawl, server) {
    const alone = await claimRate(pawl);
    await fillOtherLanes(server.url, beside);
    const stale = await claimRate(pawl);
    await query(server.url, "analyze");
    const fresh = await claimRate(pawl);
    const others = `${whole(beside)} ready in other lanes, scheduled and finished, each`;
    line("one-step jobs, nothing else there", `${whole(alone)} jobs/s`, "1.00");
    line(`the same, ${others}, old statistics`, `${whole(stale)} jobs/s`, ratio(stale, alone));
    line(`the same, ${others}, new statistics`, `${whole(fresh)} jobs/s`, ratio(fresh, alone));
  },
  async snapshot(pawl, server) {
    const free = await steadyRate(pawl, holdSeconds);
    const holder = new pg.Client(server.url);
    await holder.connect();
    await holder.query("begin isolation level repeatable read");
    await holder.query("select count(*) from pawl.tasks");
    const held = await steadyRate(pawl, holdSeconds);
    await holder.query("rollback");
    await holder.end();
    line(`one-step jobs, last 10 s of ${holdSeconds} s`, `${whole(free)} jobs/s`, "1.00");
    line("the same with a snapshot held open elsewhere", `${whole(held)} jobs/s`, ratio(held, free));
  },
  async memory(pawl) {
    const sizes: number[] = [];
    for (let done = 0; done < tasks; done += tasks / 10) {
      await runJobs(pawl, tasks / 10);
      global.gc?.();
      sizes.push(process.memoryUsage().heapUsed / 2 ** 20);
    }
    const [first, last] = [sizes[1]!, sizes.at(-1)!];
    line(`heap after ${whole(tasks / 5)} tasks`, `${first.toFixed(0)} MiB`, "1.00");
    line(`heap after ${whole(tasks)} tasks`, `${last.toFixed(0)} MiB`, ratio(last, first));
  },
};

process.stdout.write("| | | ratio |\n|---|---:|---:|\n");
const wanted = values.only.split(",");
const progress = new Runs(wanted.length);
for (const name of wanted) {
  const section = sections[name];
  if (section === undefined) throw new Error(`There is no section ${name}: ${Object.keys(sections).join(", ")}.`);
  const server = await startPostgres({ durable: true, settings: { max_wal_size: "4GB" } });
  const pawl = await createPawl({ database: server.url, lifecycles: [chain, single] });
  try {
    await progress.run(name, () => section(pawl, server));
  } finally {
    await pawl.close();
    await server.stop();
  }
}

/** Moves a second through all five states, from the first claim to the last report. */
async function runChain(pawl: Pawl, many: number): Promise<number> {
  const slices = Array.from({ length: Math.ceil(many / 10_000) }, (_, n) => Math.min(10_000, many - n * 10_000));
  for (const slice of slices)
    await pawl.startMany(
      chain,
      Array.from({ length: slice }, () => ({})),
    );
  return timed(pawl, many * 5, async () => (await pawl.inspect.counts(chain)).done === 0 || (await openOf(pawl)) > 0);
}

async function openOf(pawl: Pawl): Promise<number> {
  const counts = Object.entries(await pawl.inspect.counts(chain));
  return counts.reduce((sum, [state, many]) => sum + (state === "done" ? 0 : (many ?? 0)), 0);
}

async function runJobs(pawl: Pawl, many: number): Promise<number> {
  for (let at = 0; at < many; at += 10_000) {
    await pawl.enqueueMany(
      single,
      Array.from({ length: Math.min(10_000, many - at) }, () => ({ payload: {} })),
    );
  }
  return timed(pawl, many, async () => false);
}

/** Until so many steps ran and `unfinished` says no. */
async function timed(pawl: Pawl, steps: number, unfinished: () => Promise<boolean>): Promise<number> {
  ran = 0;
  const began = performance.now();
  const worker = pawl.work({ concurrency: 500 });
  const isBusy = async (): Promise<boolean> => ran < steps || unfinished();
  while (await isBusy()) await pause(5);
  const seconds = (performance.now() - began) / 1_000;
  await worker.stop();
  return steps / seconds;
}

async function claimRate(pawl: Pawl): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) rates.push(await runJobs(pawl, count));
  return middle(rates);
}

/** Jobs a second while they come and go all the time, at the end of a span. */
async function steadyRate(pawl: Pawl, seconds: number): Promise<number> {
  const endAt = performance.now() + seconds * 1_000;
  const rates: { at: number; rate: number }[] = [];
  while (performance.now() < endAt) rates.push({ rate: await runJobs(pawl, 5_000), at: performance.now() });
  const last = rates.filter(({ at }) => at > endAt - 10_000).map(({ rate }) => rate);
  return middle(last);
}

async function written(url: string): Promise<{ wal: number; commits: number }> {
  await pause(1_500); // Counters of the server come with a delay.
  const [row] = await query(
    url,
    `select (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as wal, xact_commit::float8 as commits
     from pg_stat_database where datname = current_database()`,
  );
  return row as { wal: number; commits: number };
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

function middle(list: readonly number[]): number {
  return [...list].sort((one, other) => one - other)[Math.floor(list.length / 2)]!;
}

function ratio(one: number, other: number): string {
  return (one / other).toFixed(2);
}

function whole(number: number): string {
  return Math.round(number).toLocaleString("en");
}

function line(what: string, figure: string, of: string): void {
  process.stdout.write(`| ${what} | ${figure} | ${of} |\n`);
}
