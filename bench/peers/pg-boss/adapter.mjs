import pg from "pg";
import { PgBoss } from "pg-boss";
import { chainLength, inSlices, serve } from "../harness.ts";

const queue = "bench";
let boss;
let pool;
let kind;

await serve({
  async open(url, wanted) {
    kind = wanted;
    // NOTIFY wakes workers between polls of half a second; but commits that notify wait for each other.
    const notify = wanted !== "single";
    boss = new PgBoss({ connectionString: url, max: 40, schedule: false, useListenNotify: notify });
    boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
    pool = new pg.Pool({ connectionString: url, max: 1 });
    await boss.start();
    await boss.createQueue(queue, { notify });
  },
  fill: (count) =>
    inSlices(count, 5_000, (numbers) =>
      boss.insert(
        queue,
        numbers.map(() => ({ data: { step: 1 } })),
      ),
    ),
  send: (at) => boss.send(queue, { at }),
  async work(ran) {
    const slow = kind === "latency";
    const options = {
      batchSize: slow ? 1 : 1_000,
      localConcurrency: slow ? 8 : 4,
      pollingIntervalSeconds: 0.5,
      notifyPollingIntervalSeconds: 0.5,
      burstWhenBatchFull: !slow,
    };
    await boss.work(queue, options, async (jobs) => {
      for (const { data } of jobs) ran(data.at);
      if (kind !== "chain") return;
      const next = jobs
        .filter(({ data }) => data.step < chainLength)
        .map(({ data }) => ({ data: { step: data.step + 1 } }));
      if (process.env.BENCH_JOB_BY_JOB) await Promise.all(next.map(({ data }) => boss.send(queue, data)));
      else if (next.length > 0) await boss.insert(queue, next);
    });
  },
  async left() {
    const { rows } = await pool.query("select count(*)::int as many from pgboss.job where state <> 'completed'");
    return rows[0].many;
  },
  async close() {
    await pool.end();
    await boss.stop({ graceful: false });
  },
});
