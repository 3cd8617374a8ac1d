import { join } from "node:path";
import { parseArgs } from "node:util";
import picocolors from "picocolors";
import { exitCodeOf, interruptibly, sayInterrupted, watch } from "../program.ts";
import { numberIn } from "../terminal.ts";
import { reportOf } from "./report.ts";
import { Simulation } from "./simulation.ts";
import { viewOn } from "./view.ts";

const usage = `npm run example:assessment -- [--attempts 200] [--faults 0.1] [--seed 1] [--minute 500] [--folder …]

  --attempts  how many candidates there are, from 1 to 1000
  --faults    the share of calls that go wrong, from 0 to 1
  --seed      another one, other faults
  --minute    how many milliseconds a minute of the definition lasts
  --folder    where the embedded database is (default: examples/assessment/.pawl)
  DATABASE_URL names a PostgreSQL instead.`;

const ownFolder = join(import.meta.dirname, ".pawl");

process.exitCode = await exitCodeOf(main);

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  const simulation = await Simulation.open({ ...options, database: process.env.DATABASE_URL });
  return interruptibly(simulation, (one, interrupted) => run(one, options, interrupted));
}

async function run(simulation: Simulation, options: Options, interrupted: AbortSignal): Promise<number> {
  const { bold, dim } = picocolors;
  const how = await simulation.begin();
  const { attempts } = await simulation.look();
  const who = how === "new" ? `${attempts} attempts` : `${attempts} attempts, taken up where they were interrupted`;
  const wrong = `${Math.round(options.faults * 100)} % of all calls go wrong`;
  console.log(`\n  ${bold(who)} · ${wrong} · ${dim(`a minute lasts ${options.minuteMs / 1_000} s`)}\n`);
  const view = viewOn(process.stdout, simulation.states);
  const isOver = await watch(simulation, view, interrupted);
  if (interrupted.aborted) return sayInterrupted();
  const result = await simulation.result();
  console.log(reportOf(result, process.stdout.columns ?? 100));
  const [first] = result.explained;
  if (first !== undefined && process.env.DATABASE_URL === undefined && options.folder === ownFolder) {
    console.log(dim("  It is all still there:"));
    console.log(
      `    cd examples/assessment\n    npx pawl explain attempt ${first.key}\n    npx pawl instance show attempt ${first.key}\n    npx pawl dead list\n`,
    );
  }
  return isOver && result.unsettled.length === 0 && result.violations.length === 0 ? 0 : 1;
}

interface Options {
  readonly attempts: number;
  readonly faults: number;
  readonly seed: number;
  readonly minuteMs: number;
  readonly folder: string;
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        attempts: { type: "string", default: "200" },
        faults: { type: "string", default: "0.1" },
        seed: { type: "string", default: "1" },
        minute: { type: "string", default: "500" },
        folder: { type: "string", default: ownFolder },
      },
    });
    return {
      attempts: numberIn(values.attempts, "--attempts", 1, 1_000),
      faults: numberIn(values.faults, "--faults", 0, 1),
      seed: numberIn(values.seed, "--seed", 0, 2 ** 31),
      minuteMs: numberIn(values.minute, "--minute", 50, 60_000),
      folder: values.folder,
    };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return undefined;
  }
}
