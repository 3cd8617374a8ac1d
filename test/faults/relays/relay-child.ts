import { writeSync } from "node:fs";
import { openOn } from "../../../src/api/open/create.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { faultsFrom } from "../../../src/testing/faults.ts";
import { sinkBroker } from "./sink.ts";

/** A relay process that is made to be killed and stopped, or to end itself at a fault point. */
const { PAWL_VICTIM_URL: url, PAWL_VICTIM_SINK: port, PAWL_FAULT: fault } = process.env;

process.stdin.on("end", () => process.exit(0)).resume(); // The parent process is gone.

const outbox = {
  brokers: [sinkBroker(Number(port), 500)],
  pollInterval: "50ms",
  leaseDuration: "2.5s",
  batchSize: 20,
  concurrency: 2,
} as const;
const db = await openPostgres({ url: url!, connections: 4 });
const { pawl } = await openOn(db, { lifecycles: [], outbox, logger: false }, { faults: faultsFrom(fault) });
pawl.relay();
writeSync(1, "ready\n");
