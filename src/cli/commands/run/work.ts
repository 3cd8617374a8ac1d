import { type Command, InvalidArgumentError } from "commander";
import { several } from "../../arguments.ts";
import type { Act } from "../../program.ts";

export function addWork(program: Command, act: Act): void {
  program
    .command("work")
    .description("run only a worker, on a database server; any number of processes")
    .option("--concurrency <n>", "number of steps that run at once", wholeNumber, 16)
    .option("--lane <lane>", "lane to serve: lifecycle, lifecycle/state or lifecycle:after; repeatable", several)
    .option("--no-wait", "exit if the database cannot be reached, instead of waiting for it")
    .action(
      act<{ concurrency: number; lane?: string[]; wait: boolean }>(async (context, options) => {
        const { runWorker } = await import("../../run/run-worker.ts");
        const { lane: lanes, ...rest } = options;
        return await runWorker(context, lanes === undefined ? rest : { ...rest, lanes });
      }),
    );
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("Use a whole number of at least 1.");
  return number;
}
