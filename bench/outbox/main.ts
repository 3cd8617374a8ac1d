/**
 * How fast a relay carries messages from the outbox to RabbitMQ, persistent and confirmed, beside a bare publisher that has
 * them in memory. Machines differ and are noisy: read the ratios.
 *
 *   npm run bench:outbox                     20,000 messages, a relay of its own settings
 *   npm run bench:outbox -- 100000 --batch 500 --queue classic
 */

import { parseArgs } from "node:util";
import { createPawl } from "pawl";
import { rabbitmq } from "pawl/rabbitmq";
import pg from "pg";
import { startPostgres } from "../../test/setup/postgres.ts";
import { startRabbitmq } from "../../test/setup/rabbitmq.ts";
import { perSecond, Runs } from "../progress.ts";
import { publishBare } from "./bare.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    batch: { type: "string", default: "100" },
    concurrency: { type: "string", default: "4" },
    queue: { type: "string", default: "quorum" },
    rounds: { type: "string", default: "3" },
  },
});
const count = Number(positionals[0] ?? 20_000);
const rounds = Number(values.rounds);
const [batch, concurrency] = [Number(values.batch), Number(values.concurrency)];
const body = JSON.stringify({ text: "x".repeat(200) });
const type = values.queue === "classic" ? "classic" : "quorum";

const [server, broker] = await Promise.all([startPostgres({ durable: true }), startRabbitmq({ schedulers: 2 })]);
const client = new pg.Client({ connectionString: server.url });
await client.connect();
const results = { relay: [] as number[], bare: [] as number[] };
try {
  const progress = new Runs(2 * rounds);
  for (let round = 1; round <= rounds; round++) {
    const bare = () =>
      timed(() => publishBare(broker.url, topologyOf(`bare${round}`), { count, body, window: batch * concurrency }));
    results.bare.push(await progress.run("bare amqplib", bare, perSecond));
    results.relay.push(await progress.run("relay", () => relayed(`relay${round}`), perSecond));
  }
  print();
} finally {
  await client.end();
  await broker.stop();
  await server.stop();
}

function topologyOf(name: string) {
  return {
    exchange: name,
    queue: name,
    topology: {
      exchanges: { [name]: { type: "topic" as const } },
      queues: { [name]: { type, bindings: [{ exchange: name, key: "#" }] } },
    },
  } as const;
}

/** All messages are in the outbox, and the link is up, before the clock starts; it stops when all are marked as sent. */
async function relayed(name: string): Promise<number> {
  const { exchange, topology } = topologyOf(name);
  const outbox = { brokers: [rabbitmq({ url: broker.url, exchange, topology })], batchSize: batch, concurrency };
  const pawl = await createPawl({ database: server.url, lifecycles: [], outbox });
  await pawl.publish("warm.up", {}, { aggregate: { type: "bench", id: "warm" } });
  const warm = pawl.relay();
  while (warm.counts.published < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await warm.stop();
  await client.query(
    `insert into pawl.messages (id, aggregate_id, aggregate_type, message_type, payload, created_at)
     select gen_random_uuid(), $1 || n, 'bench', 'bench.sent', $2::jsonb, pawl.now() from generate_series(1, $3) as n`,
    [name, body, count],
  );
  await client.query("vacuum analyze pawl.messages");
  try {
    return await timed(async () => {
      const relay = pawl.relay();
      while (relay.counts.published < count) await new Promise((resolve) => setTimeout(resolve, 5));
      await relay.stop();
    });
  } finally {
    await pawl.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return count / ((performance.now() - began) / 1_000);
}

function print(): void {
  const median = (list: readonly number[]) => [...list].sort((one, other) => one - other)[Math.floor(list.length / 2)]!;
  const [relay, bare] = [median(results.relay), median(results.bare)];
  process.stdout.write(
    `${count} messages of ${body.length} bytes to a ${type} queue of RabbitMQ ${broker.version}, persistent and confirmed\n\n` +
      "| | messages a second | of bare |\n|---|---:|---:|\n" +
      `| bare amqplib, ${batch * concurrency} in flight | ${Math.round(bare)} | 1.00 |\n` +
      `| relay, ${concurrency} batches of ${batch} | ${Math.round(relay)} | ${(relay / bare).toFixed(2)} |\n`,
  );
}
