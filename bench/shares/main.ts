/**
 * What fair shares cost, and what they give while one key floods a lane: the rate of all steps, and how long a single step of
 * another key waits, by jobs without keys, with `share`, and with a limit of each key. Machines differ and are noisy: read
 * the ratios. It runs the built package.
 *
 *   npm run bench:shares
 *   npm run bench:shares -- --only share --flood 20000
 */

import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createPawl, type Job, job, type Pawl } from "pawl";
import { z } from "zod";
import { startPostgres } from "../../test/setup/postgres.ts";
import { Runs } from "../progress.ts";

const { values } = parseArgs({
  options: {
    flood: { type: "string", default: "100000" },
    small: { type: "string", default: "100" },
    keys: { type: "string", default: "10000" },
    concurrency: { type: "string", default: "100" },
    only: { type: "string", default: "plain,share,limit" },
  },
});
const flood = Number(values.flood);
const small = Number(values.small);
const keys = Number(values.keys);
const concurrency = Number(values.concurrency);

const payload = z.object({ key: z.string(), enqueuedAt: z.number() });
type Payload = z.infer<typeof payload>;
let ran = 0;
let waits: number[] = [];
const run = ({ payload: { key, enqueuedAt } }: { readonly payload: Payload }): void => {
  ran += 1;
  if (key.startsWith("small")) waits.push(performance.now() - enqueuedAt);
};
const kinds = {
  plain: job("plain", { payload, run }),
  share: job("share", { payload, run, share: ({ data }) => data.key }),
  limit: job("limit", { payload, run, limit: { per: ({ data }) => data.key, each: 50 } }),
} satisfies Record<string, Job<string, Payload, Payload>>;
type Kind = keyof typeof kinds;

process.stdout.write(
  "| | flood, steps/s | waiting time of small keys, median | worst | many keys, steps/s |\n|---|---:|---:|---:|---:|\n",
);
const wanted = values.only.split(",") as Kind[];
const progress = new Runs(wanted.length);
for (const kind of wanted) {
  if (!Object.hasOwn(kinds, kind)) throw new Error(`There is no kind ${kind}: ${Object.keys(kinds).join(", ")}.`);
  const server = await startPostgres({ durable: true, settings: { max_wal_size: "4GB" } });
  const pawl = await createPawl({ database: server.url, lifecycles: Object.values(kinds) });
  try {
    await progress.run(kind, () => measure(pawl, kind));
  } finally {
    await pawl.close();
    await server.stop();
  }
}

/** A flood by one key, into which small keys come with one step each; then the same number of steps of many keys. */
async function measure(pawl: Pawl, kind: Kind): Promise<void> {
  await enqueue(pawl, kind, flood, () => "flood");
  ran = 0;
  waits = [];
  const began = performance.now();
  const worker = pawl.work({ concurrency });
  for (let n = 0; n < small; n++) {
    await pawl.enqueue(kinds[kind], { key: `small ${n}`, enqueuedAt: performance.now() });
    await pause(20);
  }
  await until(flood + small);
  const floodRate = (flood + small) / ((performance.now() - began) / 1_000);
  await worker.stop();
  const sorted = waits.sort((one, other) => one - other);
  await enqueue(pawl, kind, flood, (n) => `key ${n % keys}`);
  ran = 0;
  const beganAgain = performance.now();
  const second = pawl.work({ concurrency });
  await until(flood);
  const manyRate = flood / ((performance.now() - beganAgain) / 1_000);
  await second.stop();
  const cells = [
    whole(floodRate),
    `${whole(sorted[Math.floor(sorted.length / 2)]!)} ms`,
    `${whole(sorted.at(-1)!)} ms`,
  ];
  process.stdout.write(`| ${kind} | ${cells.join(" | ")} | ${whole(manyRate)} |\n`);
}

async function enqueue(pawl: Pawl, kind: Kind, many: number, keyOf: (n: number) => string): Promise<void> {
  for (let at = 0; at < many; at += 10_000) {
    const slice = Array.from({ length: Math.min(10_000, many - at) }, (_, n) => n + at);
    await pawl.enqueueMany(
      kinds[kind],
      slice.map((n) => ({ payload: { key: keyOf(n), enqueuedAt: performance.now() } })),
    );
  }
}

async function until(steps: number): Promise<void> {
  const isBusy = (): boolean => ran < steps;
  while (isBusy()) await pause(5);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}
