import { type Command, InvalidArgumentError } from "commander";
import { several } from "../../arguments.ts";
import type { Act } from "../../program.ts";

export function addWork(program: Command, act: Act): void {
  program
    .command("work")
    .description("run steps on the database server of the settings, and nothing else; any number of processes may")
    .option("--concurrency <n>", "how many steps run at once", wholeNumber, 16)
    .option("--only <lane>", "lifecycle, lifecycle/state or lifecycle:after; may be given several times", several)
    .option("--no-wait", "exit when the database cannot be reached at the start, instead of waiting for it")
    .action(
      act<{ concurrency: number; only?: string[]; wait: boolean }>(async (context, options) => {
        const { runWorker } = await import("../../run/run-worker.ts");
        return await runWorker(context, options);
      }),
    );
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("Give a whole number of at least 1.");
  return number;
}
