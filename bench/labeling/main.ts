/**
 * How fast people can be served on PostgreSQL, the more samples wait: whole cycles (next, start, submit) by 64 labelers at
 * once and by one alone, and `next` for one who has done up to a tenth of the queue already. It is to be flat: within 1.5
 * times from a thousand samples to a million, whatever their order. Machines differ and are noisy: read how the figures
 * stand to each other.
 *
 *   npm run bench:labeling              up to 100,000 samples
 *   npm run bench:labeling -- 1000000
 */

import { createPawl, type Pawl, queue } from "pawl";
import pg from "pg";
import { startPostgres } from "../../test/setup/postgres.ts";
import { perSecond, Runs } from "../progress.ts";
import { fill, overlap } from "./fill.ts";

const label = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } as const;
const ok = { ok: true };
const most = Number(process.argv[2] ?? 100_000);
const sizes = [1_000, 10_000, 100_000, 1_000_000].filter((size) => size <= most);
/** What `next` goes by is a number at each slot, whoever gave it: a `priority`, or the queue's own function. */
const orders = [
  { name: "oldest", rank: "0" },
  { name: "least_labeled", rank: "no" },
  { name: "by number", rank: "(n::bigint * 7919) % 100003" },
] as const;
const crowd = Array.from({ length: 64 }, (_, index) => `labeler-${index}`);
const rounds = 3;
const cyclesEach = 8;

interface Measured {
  readonly size: number;
  readonly perSecond: number;
  readonly alone: readonly number[];
  readonly ahead: readonly number[];
}

const server = await startPostgres({ durable: true, settings: { max_wal_size: "4GB" } });
try {
  process.stdout.write(
    "| order | samples waiting | 64 labelers, cycles/s | of the fewest | one, a cycle, ms (p95) | next, far ahead, ms (p95) |\n",
  );
  process.stdout.write("|---|---:|---:|---:|---:|---:|\n");
  const progress = new Runs(orders.length * sizes.length);
  for (const order of orders) {
    const measured: Measured[] = [];
    for (const size of sizes) {
      const work = () => inNewDatabase((url, client) => measure(url, client, size, order.rank));
      measured.push(await progress.run(`${order.name}, ${size}`, work, (one) => perSecond(one.perSecond)));
      print(order.name, measured.at(-1)!, measured[0]!);
    }
    const speeds = measured.map((one) => one.perSecond);
    process.stdout.write(
      `| | | fastest to slowest | ${(Math.max(...speeds) / Math.min(...speeds)).toFixed(2)} | | |\n`,
    );
  }
} finally {
  await server.stop();
}

async function inNewDatabase(work: (url: string, client: pg.Client) => Promise<Measured>): Promise<Measured> {
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query("create database labeling");
  const url = new URL(server.url);
  url.pathname = "/labeling";
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    return await work(url.href, client);
  } finally {
    await client.end();
    await admin.query("drop database labeling with (force)");
    await admin.end();
  }
}

async function measure(url: string, client: pg.Client, size: number, rank: string): Promise<Measured> {
  const name = "waiting";
  const pawl = await createPawl({ database: url, lifecycles: [], queues: [queue(name, { label, overlap })] });
  try {
    const template = await pawl.people.add(name, { data: { n: 0 } });
    await fill(client, template.id, {
      queue: name,
      size,
      rank,
      ahead: "zoe",
      done: Math.min(size / 10, 20_000),
    });
    await together(pawl, name, 2); // Everybody has come, everything is loaded.
    const speeds: number[] = [];
    for (let round = 0; round < rounds; round++) speeds.push(await together(pawl, name, cyclesEach));
    return {
      size,
      perSecond: speeds.sort((one, other) => one - other)[Math.floor(rounds / 2)]!,
      alone: await latencies(100, () => cycle(pawl, name, "ada")),
      ahead: await latencies(100, () => nextAndBack(pawl, name, "zoe")),
    };
  } finally {
    await pawl.close();
  }
}

async function cycle(pawl: Pawl, name: string, labeler: string): Promise<void> {
  const { assignment } = await pawl.people.next(name, labeler);
  await pawl.people.start(assignment!.id, labeler);
  await pawl.people.submit(assignment!.id, labeler, ok);
}

async function nextAndBack(pawl: Pawl, name: string, labeler: string): Promise<void> {
  const { assignment } = await pawl.people.next(name, labeler);
  await pawl.people.release(assignment!.id, { actor: "lead" });
}

async function together(pawl: Pawl, name: string, each: number): Promise<number> {
  const began = performance.now();
  await Promise.all(
    crowd.map(async (labeler) => {
      for (let n = 0; n < each; n++) await cycle(pawl, name, labeler);
    }),
  );
  return (crowd.length * each) / ((performance.now() - began) / 1_000);
}

async function latencies(count: number, run: () => Promise<void>): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < count; n++) {
    const began = performance.now();
    await run();
    took.push(performance.now() - began);
  }
  return took.sort((one, other) => one - other);
}

function print(order: string, { size, perSecond, alone, ahead }: Measured, fewest: Measured): void {
  const cells = [
    order,
    size.toLocaleString("en"),
    Math.round(perSecond).toLocaleString("en"),
    (perSecond / fewest.perSecond).toFixed(2),
    shown(alone),
    shown(ahead),
  ];
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}

function shown(took: readonly number[]): string {
  const at = (share: number) => took[Math.floor((took.length - 1) * share)]!.toFixed(1);
  return `${at(0.5)} (${at(0.95)})`;
}
