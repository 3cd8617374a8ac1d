import { defineConfig } from "pawl";
import { messages, pictures } from "./queues.ts";
import { openRound } from "./round.ts";

/** For people at a command line: the same queues with minutes of sixty seconds, and samples in them from the start. */
export default defineConfig({ lifecycles: [], queues: [messages, pictures], seed: openRound });
