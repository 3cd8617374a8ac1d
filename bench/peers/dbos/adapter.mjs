import { DBOS } from "@dbos-inc/dbos-sdk";
import pg from "pg";
import { chainLength, serve } from "../harness.ts";

const queue = "bench";
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const producing = process.argv[2] === "produce";
/** Its calls are one statement each, so as many go at once as its connections carry. */
const atOnce = 64;
let heard = () => {};
let pool;
let kind;
let address;

const empty = async () => heard();
const chain = DBOS.registerWorkflow(
  async () => {
    for (let step = 1; step <= chainLength; step++) await DBOS.runStep(empty, { name: `step${step}` });
  },
  { name: "chain" },
);
const single = DBOS.registerWorkflow(async (at) => heard(at), { name: "single" });

await serve({
  async open(url, wanted) {
    kind = wanted;
    address = url;
    pool = new pg.Pool({ connectionString: url, max: 1 });
    await launch(["none yet"]);
    await DBOS.registerQueue(queue, { minPollingIntervalMs: 10, onConflict: "always_update" });
  },
  fill: (count) => startMany(kind === "chain" ? chain : single, count),
  // In its own process a workflow starts at the call; from another process it goes through a queue.
  send: (at) => DBOS.startWorkflow(single, kind === "latency" && !producing ? {} : { queueName: queue })(at),
  async work(ran) {
    heard = ran;
    await DBOS.shutdown();
    await launch([queue]);
  },
  async left() {
    const { rows } = await pool.query(
      "select count(*)::int as many from dbos.workflow_status where status <> 'SUCCESS'",
    );
    return rows[0].many;
  },
  async close() {
    await pool.end();
    await DBOS.shutdown();
  },
});

/** Queues are named at launch, so filling and working are two launches. */
async function launch(listenQueues) {
  const connection = { systemDatabaseUrl: address, systemDatabasePoolSize: 40 };
  DBOS.setConfig({ name: "bench", applicationVersion: "1", ...connection, logger: quiet, listenQueues });
  await DBOS.launch();
}

async function startMany(workflow, count) {
  let next = 0;
  const caller = async () => {
    while (next++ < count) await DBOS.startWorkflow(workflow, { queueName: queue })(0);
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}
