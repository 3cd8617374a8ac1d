import { openOn } from "../../../src/api/open/create.ts";
import { maintain } from "../../../src/maintenance/round.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { faultsFrom } from "../../../src/testing/faults.ts";
import { Worker } from "../../../src/worker/worker.ts";
import { kid, parent } from "../worlds/family.ts";

/** A worker that kills itself at a given point. */
process.stdin.on("end", () => process.exit(0)).resume(); // The parent process is gone.

const db = await openPostgres({ url: process.env.PAWL_VICTIM_URL!, connections: 4 });
const faults = faultsFrom(process.env.PAWL_FAULT);
const { kernel } = await openOn(db, { lifecycles: [parent, kid], migrate: false, logger: false }, { faults });
new Worker(kernel, maintain, { leaseDuration: "1s", pollInterval: "20ms", maintenanceInterval: "100ms" });
