import { join } from "node:path";
import { parseArgs } from "node:util";
import picocolors from "picocolors";
import { exitCodeOf, interruptibly, sayInterrupted, watch } from "../program.ts";
import { numberIn } from "../terminal.ts";
import { team } from "./labelers.ts";
import { reportOf } from "./report.ts";
import { Simulation } from "./simulation.ts";
import { viewOn } from "./view.ts";

const usage = `npm run example:labeling -- [--seed 1] [--minute 250] [--folder …] [--fill]

  --seed    another one, other mishaps
  --minute  how many milliseconds a minute of the queues lasts
  --folder  where the embedded database is (default: examples/labeling/.pawl)
  --fill    only put samples into the queues, for you to label them
  DATABASE_URL names a PostgreSQL instead.`;

const ownFolder = join(import.meta.dirname, ".pawl");

process.exitCode = await exitCodeOf(main);

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  const simulation = await Simulation.open({ ...options, database: process.env.DATABASE_URL });
  if (options.fill) {
    const { number } = await simulation.fill();
    await simulation.close();
    console.log(`Round ${number} waits: pawl queue next messages --labeler me --start`);
    return 0;
  }
  return interruptibly(simulation, (one, interrupted) => run(one, options, interrupted));
}

async function run(simulation: Simulation, options: Options, interrupted: AbortSignal): Promise<number> {
  const { bold, dim } = picocolors;
  const round = await simulation.begin();
  const first = await simulation.look();
  const count = first.queues.flatMap(({ states }) => [...states.values()]).reduce((sum, one) => sum + one, 0);
  const what = `${count} samples, ${team.length} labelers`;
  const how = round.isTakenUp ? " · some are begun already" : "";
  console.log(`\n  ${bold(what)}${how} · ${dim(`a minute lasts ${options.minuteMs / 1_000} s`)}\n`);
  const view = viewOn(process.stdout);
  const isOver = await watch(simulation, view, interrupted);
  if (interrupted.aborted) return sayInterrupted();
  const result = await simulation.result();
  console.log(reportOf(result));
  if (process.env.DATABASE_URL === undefined && options.folder === ownFolder) {
    console.log(dim("  It is all still there, and you can label yourself: see examples/labeling/README.md."));
    console.log(
      "    cd examples/labeling\n    npx pawl queue show messages\n    npx pawl queue metrics messages --by labeler\n",
    );
  }
  const isSound = result.violations.length === 0 && result.queues.every(({ overshot }) => overshot.length === 0);
  return isOver && isSound ? 0 : 1;
}

interface Options {
  readonly seed: number;
  readonly minuteMs: number;
  readonly folder: string;
  readonly fill: boolean;
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: "string", default: "1" },
        minute: { type: "string", default: "250" },
        folder: { type: "string", default: ownFolder },
        fill: { type: "boolean", default: false },
      },
    });
    return {
      seed: numberIn(values.seed, "--seed", 0, 2 ** 31),
      minuteMs: numberIn(values.minute, "--minute", 20, 60_000),
      folder: values.folder,
      fill: values.fill,
    };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return undefined;
  }
}
