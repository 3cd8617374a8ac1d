import { type Command, InvalidArgumentError } from "commander";
import type { Act } from "../program.ts";

export function addWork(program: Command, act: Act): void {
  program
    .command("work")
    .description("run steps on the database server of the settings, and nothing else; any number of processes may")
    .option("--concurrency <n>", "how many steps run at once", wholeNumber, 16)
    .action(
      act<{ concurrency: number }>(async (context, { concurrency }) => {
        const { runWorker } = await import("../run-worker.ts");
        return await runWorker(context, concurrency);
      }),
    );
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("Give a whole number of at least 1.");
  return number;
}
