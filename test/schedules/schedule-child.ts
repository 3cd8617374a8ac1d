import { openOn } from "../../src/api/open/create.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { faultsFrom } from "../../src/testing/faults.ts";
import { everySecond, tick } from "./every-second.ts";

/** A process that keeps a schedule and is made to die at a certain point of it. */
process.stdin.on("end", () => process.exit(0)).resume(); // Whoever waits for its death is gone.

const db = await openPostgres({ url: process.env.PAWL_VICTIM_URL! });
const faults = faultsFrom(process.env.PAWL_FAULT);
const { pawl } = await openOn(db, { lifecycles: [tick], schedules: [everySecond], logger: false }, { faults });
pawl.maintain({ interval: "50ms" });
