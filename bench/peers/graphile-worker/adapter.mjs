import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { chainLength, inSlices, serve } from "../harness.ts";

const logger = new Logger(() => () => {});
let pool;
let utils;
let runner;
let kind;

await serve({
  async open(url, wanted) {
    kind = wanted;
    pool = new pg.Pool({ connectionString: url, max: 40 });
    pool.on("error", () => {});
    utils = await makeWorkerUtils({ pgPool: pool, preset: { worker: { logger } } });
    await utils.migrate();
  },
  fill: (count) =>
    inSlices(count, 5_000, (numbers) =>
      utils.addJobs(numbers.map(() => ({ identifier: "bench", payload: { step: 1 } }))),
    ),
  send: (at) => utils.addJob("bench", { at }),
  async work(ran) {
    // Its page on performance: a local queue and batched completion for speed; without them a single job starts sooner.
    const speed = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0, concurrentJobs: 100 };
    const worker = { logger, pgPool: pool, ...(kind === "latency" ? { concurrentJobs: 16 } : speed) };
    runner = await run({
      pgPool: pool,
      noHandleSignals: true,
      preset: { worker },
      taskList: {
        bench: async ({ at, step }, helpers) => {
          ran(at);
          if (kind === "chain" && step < chainLength) await helpers.addJob("bench", { step: step + 1 });
        },
      },
    });
  },
  async left() {
    const { rows } = await pool.query("select count(*)::int as many from graphile_worker.jobs");
    return rows[0].many;
  },
  async close() {
    await runner?.stop();
    await utils.release();
    await pool.end();
  },
});
