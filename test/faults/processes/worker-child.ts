import { openOn } from "../../../src/api/open/create.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { faultsFrom } from "../../../src/testing/faults.ts";
import type { WorkOptions } from "../../../src/worker/settings.ts";
import { writeLine } from "../harm/write-line.ts";
import { lifecycles, outside } from "../worlds/relay.ts";

/**
 * A worker process that is made to be killed and stopped. The actions of its steps are written before they continue.
 */
const { PAWL_VICTIM_URL: url = "", PAWL_FAULT: fault, ...given } = process.env;
const { PAWL_VICTIM_CONNECTIONS: connections, PAWL_VICTIM_CONCURRENCY: concurrency } = given;
/** The options of a worker, as JSON; otherwise the defaults of Pawl. */
const options = JSON.parse(given.PAWL_VICTIM_OPTIONS ?? "{}") as WorkOptions;

process.stdin.on("end", () => process.exit(0)).resume(); // The parent process is gone.
process.on("unhandledRejection", (error) => writeLine("unheard", String(error)));
setInterval(() => writeLine("megabytes", String(Math.round(process.memoryUsage.rss() / 1_048_576))), 500).unref();

outside.pauseMs = 5;
outside.tell = (what, { id, attempt, idempotencyKey }) => writeLine(what, id, String(attempt), idempotencyKey);
const db = await openPostgres({ url, connections: Number(connections) });
const { pawl } = await openOn(db, { lifecycles, logger: false }, { faults: faultsFrom(fault) });
outside.holdConnection = (ms) => {
  writeLine("holds");
  return pawl.transaction(async (tx) => void (await tx.query("select pg_sleep($1)", [ms / 1_000])));
};
pawl.work({
  concurrency: Number(concurrency),
  ...options,
  onMove: ({ from }) => from === "Recovery" && writeLine("looked"),
  onFailure: (error) => writeLine("failure", String(error)),
});
writeLine("ready");
