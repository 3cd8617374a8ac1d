import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import picocolors from "picocolors";
import { exitCodeOf, interruptibly, watch } from "../program.ts";
import { numberIn } from "../terminal.ts";
import { papers } from "./papers.ts";
import { checksOf, reportOf } from "./report.ts";
import { Simulation } from "./simulation.ts";
import { viewOn } from "./view.ts";
import { team } from "./workers.ts";

const usage = `npm run example:crowd -- [--seed 1] [--folder …]

  --seed    another one, other mishaps
  --folder  where the embedded database is kept (default: a temporary folder, deleted afterwards)
  DATABASE_URL names a PostgreSQL instead.`;

process.exitCode = await exitCodeOf(main);

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "pawl-crowd-"));
  try {
    const simulation = await Simulation.open({ seed: options.seed, folder, database: process.env.DATABASE_URL });
    return await interruptibly(simulation, (one, interrupted) => run(one, options, interrupted));
  } finally {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function run(simulation: Simulation, options: Options, interrupted: AbortSignal): Promise<number> {
  const { bold, dim } = picocolors;
  console.log(`\n  ${bold(`${papers.length} receipts, ${team.length} workers`)} · ${dim("three are to read each")}\n`);
  await simulation.begin();
  const isOver = await watch(simulation, viewOn(process.stdout), interrupted);
  if (interrupted.aborted) return 130;
  const result = await simulation.result();
  console.log(reportOf(result));
  if (options.folder !== undefined) {
    console.log(dim("  It is all still there:"));
    console.log(`    npx pawl crowd jobs --config examples/crowd/pawl.config.ts --folder ${options.folder}\n`);
  }
  return isOver && checksOf(result).every(({ holds }) => holds) ? 0 : 1;
}

interface Options {
  readonly seed: number;
  readonly folder: string | undefined;
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({ options: { seed: { type: "string", default: "1" }, folder: { type: "string" } } });
    return { seed: numberIn(values.seed, "--seed", 0, 2 ** 31), folder: values.folder };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return undefined;
  }
}
