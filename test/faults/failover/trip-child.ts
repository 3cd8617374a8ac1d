import { createPawl } from "../../../src/api/open/create.ts";
import { writeLine } from "../harm/write-line.ts";
import { sinkBroker } from "../relays/sink.ts";
import { lifecycles, outside } from "./trip.ts";

/** A worker and relay that has to outlast failovers: nothing restarts it. */
const { PAWL_VICTIM_URL: database = "", PAWL_VICTIM_SINK: port, PAWL_VICTIM_LEASE: lease = "5s" } = process.env;

process.stdin.on("end", () => process.exit(0)).resume(); // Whoever watches us is gone.
process.on("unhandledRejection", (error) => writeLine("unheard", String(error)));

outside.tell = (what, key) => writeLine(what, "", "", key);
const brokers = [sinkBroker(Number(port), 5_000)];
const pawl = await createPawl({ database, lifecycles, logger: false, outbox: { brokers, pollInterval: "100ms" } });
pawl.on("moved", () => writeLine("moved"));
pawl.work({
  concurrency: 8,
  leaseDuration: lease as `${number}s`,
  pollInterval: "100ms",
  onFailure: (error) => writeLine("failure", String(error).replace(/\s+/g, " ")),
});
writeLine("ready");
