import { setImmediate as nextTurn } from "node:timers/promises";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { chainLength, inSlices, serve } from "../harness.ts";

const logger = new Logger(() => () => {});
let pool;
let utils;
let runner;
let kind;
let waiting = [];
let adding;

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
    const speed = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0, concurrentJobs: 200 };
    const worker = { logger, pgPool: pool, ...(kind === "latency" ? { concurrentJobs: 16 } : speed) };
    runner = await run({
      pgPool: pool,
      noHandleSignals: true,
      preset: { worker },
      taskList: {
        bench: async ({ at, step }, helpers) => {
          ran(at);
          if (kind !== "chain" || step === chainLength) return;
          const next = { step: step + 1 };
          await (process.env.BENCH_JOB_BY_JOB ? helpers.addJob("bench", next) : addSoon(next));
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

/** Jobs of handlers that run at once go by one `addJobs`: each call notifies, and commits that notify are serial. */
async function addSoon(payload) {
  waiting.push({ identifier: "bench", payload });
  adding ??= nextTurn().then(() => {
    const jobs = waiting;
    waiting = [];
    adding = undefined;
    return utils.addJobs(jobs);
  });
  await adding;
}
