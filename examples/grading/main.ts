import { join } from "node:path";
import { parseArgs } from "node:util";
import picocolors from "picocolors";
import { startRabbitmq } from "../../test/setup/rabbitmq.ts";
import { exitCodeOf, interruptibly, sayInterrupted, watch } from "../program.ts";
import { numberIn } from "../terminal.ts";
import { type Exchange, inMemory, overRabbitmq } from "./exchange.ts";
import { reportOf } from "./report.ts";
import { type Ordeal, Simulation } from "./simulation.ts";
import { viewOn } from "./view.ts";

const usage = `npm run example:grading -- [--submissions 120] [--trouble …] [--broker …] [--minute 300] [--seed 1] [--folder …]

  --submissions  how many are handed in, from 1 to 1000
  --trouble      what the grader goes through, one after the other: none, slow, down, limited, wrong, late;
                 "slow,down" for two of them (default: all)
  --broker       rabbitmq or memory (default: rabbitmq if it is available)
  --minute       how many milliseconds a minute lasts
  --seed         another one, other mishaps
  --folder       where the embedded database is (default: examples/grading/.pawl)
  PAWL_AMQP_URL names a RabbitMQ; without it, one that is installed here is started. DATABASE_URL names a PostgreSQL.`;

const ordeals: readonly Ordeal[] = ["none", "slow", "down", "limited", "wrong", "late"];
const ownFolder = join(import.meta.dirname, ".pawl");

process.exitCode = await exitCodeOf(main);

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  const mail = await findExchange(options);
  try {
    const simulation = await Simulation.open({ ...options, database: process.env.DATABASE_URL }, mail.exchange);
    return await interruptibly(simulation, (one, interrupted) => run(one, options, mail.name, interrupted));
  } finally {
    await mail.stop();
  }
}

interface Mail {
  readonly name: string;
  readonly exchange: Exchange;
  stop(): Promise<void>;
}

/** A given RabbitMQ, otherwise one of our own, otherwise none. */
async function findExchange(options: Options): Promise<Mail> {
  const { PAWL_AMQP_URL: url } = process.env;
  const given = { name: "RabbitMQ", stop: async () => {} };
  if (options.broker !== "memory" && url !== undefined && url !== "") {
    return { ...given, exchange: overRabbitmq(url, options) };
  }
  if (options.broker !== "memory") {
    try {
      const server = await startRabbitmq();
      const name = `RabbitMQ ${server.version}, started for this`;
      return { name, exchange: overRabbitmq(server.url, options), stop: () => server.stop() };
    } catch (error) {
      if (options.broker === "rabbitmq") throw error;
    }
  }
  const name = options.broker === "memory" ? "in memory" : "in memory, since there is no RabbitMQ";
  return { ...given, name, exchange: inMemory(options) };
}

async function run(simulation: Simulation, options: Options, via: string, interrupted: AbortSignal): Promise<number> {
  const { bold, dim } = picocolors;
  const how = await simulation.begin();
  const who = how === "new" ? `${options.submissions} submissions` : "What was interrupted is taken up";
  console.log(`\n  ${bold(who)} · ${via} · ${dim(`a minute lasts ${options.minuteMs / 1_000} s`)}\n`);
  const view = viewOn(process.stdout, simulation.states);
  const isOver = await watch(simulation, view, interrupted);
  if (interrupted.aborted) return sayInterrupted();
  await simulation.acceptLate();
  const result = await simulation.result();
  console.log(reportOf(result));
  if (process.env.DATABASE_URL === undefined && options.folder === ownFolder) {
    console.log(dim("  It is all still there:"));
    console.log(
      "    cd examples/grading\n    npx pawl status\n    npx pawl dead list\n    npx pawl instance list submission --state failed\n",
    );
  }
  const { gradedTwice, lost, violations } = result;
  return isOver && gradedTwice.length + lost.length + violations.length === 0 ? 0 : 1;
}

interface Options {
  readonly submissions: number;
  readonly ordeals: readonly Ordeal[];
  readonly broker: string;
  readonly minuteMs: number;
  readonly seed: number;
  readonly folder: string;
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        submissions: { type: "string", default: "120" },
        trouble: { type: "string", default: ordeals.join(",") },
        broker: { type: "string", default: "either" },
        minute: { type: "string", default: "300" },
        seed: { type: "string", default: "1" },
        folder: { type: "string", default: ownFolder },
      },
    });
    if (!["either", "rabbitmq", "memory"].includes(values.broker))
      throw new Error("--broker must be rabbitmq or memory.");
    return {
      submissions: numberIn(values.submissions, "--submissions", 1, 1_000),
      ordeals: values.trouble.split(",").map(ordealOf),
      broker: values.broker,
      minuteMs: numberIn(values.minute, "--minute", 50, 60_000),
      seed: numberIn(values.seed, "--seed", 0, 2 ** 31),
      folder: values.folder,
    };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return undefined;
  }
}

function ordealOf(word: string): Ordeal {
  const found = ordeals.find((one) => one === word.trim());
  if (found !== undefined) return found;
  throw new Error(`--trouble must be some of ${ordeals.join(", ")}, not "${word}".`);
}
