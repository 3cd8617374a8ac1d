import { writeSync } from "node:fs";
import { createPawl } from "pawl";
import { outside, poison, relay, thinker } from "./relay.ts";

/** A worker process that is made to be killed and stopped. What its steps do is written before they go on. */
const { PAWL_VICTIM_URL: database, PAWL_VICTIM_CONNECTIONS: connections = "4" } = process.env;

process.stdin.on("end", () => process.exit(0)).resume(); // Whoever was to kill us is gone.

outside.pauseMs = 5;
outside.tell = (what, { id, attempt, idempotencyKey }) => say(what, id, String(attempt), idempotencyKey);
const pawl = await createPawl({
  database: database!,
  lifecycles: [relay, poison, thinker],
  connections: Number(connections),
  logger: false,
});
pawl.work({
  concurrency: 8,
  lease: "3s",
  poll: "100ms",
  maintainEvery: "200ms",
  onFailure: (error) => say("failure", String(error)),
});
say("ready");

function say(...words: string[]): void {
  writeSync(1, `${words.join("\t")}\n`);
}
