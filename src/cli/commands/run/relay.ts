import type { Command } from "commander";
import type { Act } from "../../program.ts";

export function addRelay(program: Command, act: Act): void {
  program
    .command("relay")
    .description("run only the outbox relay, on a database server; any number of processes")
    .option("--no-wait", "exit if the database cannot be reached, instead of waiting for it")
    .action(
      act<{ wait: boolean }>(async (context, options) => {
        const { runRelay } = await import("../../run/run-worker.ts");
        return await runRelay(context, options);
      }),
    );
}
