/**
 * Pawl beside its peers: the same workloads, the same machine, the same PostgreSQL, one at a time. Writes
 * `bench/RESULTS.md` and the chart beside it. Machines differ and are noisy: read the ratios.
 *
 *   npm run bench
 *   npm run bench -- --count 2000 --rounds 1 --only pawl,pg-boss --workloads chain,jobs
 */

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { startPostgres } from "../../test/setup/postgres.ts";
import { perSecond, Runs } from "../progress.ts";
import { chart } from "./chart.ts";
import { ask, type Usage } from "./child.ts";
import type { Answer } from "./harness.ts";
import { installPeers } from "./install.ts";
import { cpuOf } from "./processes.ts";
import { startRedis } from "./redis.ts";
import { answersOf, middle, report } from "./report.ts";
import { type System, systems } from "./systems.ts";
import { workloads } from "./workloads.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "40000" },
    rounds: { type: "string", default: "3" },
    only: { type: "string" },
    workloads: { type: "string" },
    limit: { type: "string", default: "600" },
    out: { type: "string", default: join(import.meta.dirname, "..", "RESULTS.md") },
  },
});
const count = positive("count");
const rounds = positive("rounds");
const limitSeconds = positive("limit");
const compared = chosen(systems, values.only);
const asked = chosen(workloads, values.workloads);

/** What a reader types to repeat this run. */
const command = [
  "npm run bench --",
  ...(["count", "rounds", "only", "workloads"] as const).flatMap((name) =>
    values[name] === undefined ? [] : [`--${name} "${values[name]}"`],
  ),
]
  .join(" ")
  .replaceAll(/"([\w,-]+)"/g, "$1");

const node = await installPeers();
const postgres = await startPostgres({ durable: true, settings: { max_wal_size: "4GB" } });
let redisVersion: string | undefined;
try {
  const answers = await runAll();
  const facts = { node, postgres: postgres.version, redis: redisVersion, count, rounds, command };
  const text = report(compared, asked, answers, facts);
  writeFileSync(values.out, text);
  const middleOf: Parameters<typeof chart>[2] = (workload, { name }) => middle(answersOf(answers, workload, name));
  writeFileSync(join(dirname(values.out), "chart.svg"), chart(compared, asked, middleOf));
  process.stdout.write(text);
} finally {
  await postgres.stop();
}

/** Rounds go over all systems, so that a slow minute of the machine does not fall on one of them alone. */
async function runAll(): Promise<Map<string, Answer[]>> {
  const answers = new Map<string, Answer[]>();
  const turns = asked.flatMap(({ name: workload }) =>
    compared.filter(({ only }) => only?.includes(workload) !== false).map((system) => ({ workload, system })),
  );
  const progress = new Runs(rounds * turns.length);
  for (let round = 1; round <= rounds; round++) {
    for (const { workload, system } of turns) {
      const answer = await progress.run(`${workload}, ${system.name}`, () => runOne(system, workload), said);
      const key = `${workload} ${system.name}`;
      answers.set(key, [...(answers.get(key) ?? []), answer]);
    }
  }
  return answers;
}

function said({ error, rate, p50 = 0 }: Answer): string {
  return error ?? (rate === undefined ? `p50 ${p50.toFixed(1)} ms` : perSecond(rate));
}

async function runOne(system: System, workload: (typeof workloads)[number]["name"]): Promise<Answer> {
  const items = Math.ceil(count * (system.share ?? 1));
  if (system.store === "redis")
    return onRedis((url, measure) => ask(node, system, { workload, count: items, url }, { limitSeconds, measure }));
  const database = "bench";
  await onServer(`create database ${database}`, "checkpoint");
  try {
    const url = new URL(postgres.url);
    url.pathname = `/${database}`;
    return await ask(node, system, { workload, count: items, url: url.href }, { limitSeconds, measure: measureServer });
  } finally {
    await onServer(`drop database ${database} with (force)`);
  }
}

/** PostgreSQL, over a connection of its own. */
async function measureServer(): Promise<Usage> {
  const pid = Number(readFileSync(join(postgres.dataFolder, "postmaster.pid"), "utf8").split("\n")[0]);
  const client = new Client(postgres.url);
  await client.connect();
  try {
    const { rows } = await client.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes");
    return { cpuMs: cpuOf(pid), walBytes: (rows[0] as { bytes: number }).bytes };
  } finally {
    await client.end();
  }
}

async function onRedis(work: (url: string, measure: () => Promise<Usage>) => Promise<Answer>): Promise<Answer> {
  const redis = await startRedis();
  if (redis === undefined) return { error: "not run: there is no redis-server (apt install redis-server)" };
  try {
    redisVersion = redis.version;
    return await work(redis.url, async () => ({ cpuMs: cpuOf(redis.pid), walBytes: undefined }));
  } finally {
    await redis.stop();
  }
}

async function onServer(...statements: readonly string[]): Promise<void> {
  const client = new Client(postgres.url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function positive(name: "count" | "rounds" | "limit"): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} must be a whole number above 0.`);
}

function chosen<Item extends { readonly name: string }>(all: readonly Item[], names: string | undefined): Item[] {
  const wanted = names?.split(/,(?! )/) ?? all.map(({ name }) => name);
  const stray = wanted.find((name) => !all.some((item) => item.name === name));
  if (stray === undefined) return all.filter(({ name }) => wanted.includes(name));
  throw new Error(`There is no ${stray}; there are ${all.map(({ name }) => name).join(", ")}.`);
}
