import type { Command } from "commander";
import type { Act } from "../../program.ts";

export function addRelay(program: Command, act: Act): void {
  program
    .command("relay")
    .description("send what is in the outbox of the database server of the settings, and nothing else")
    .option("--no-wait", "exit when the database cannot be reached at the start, instead of waiting for it")
    .action(
      act<{ wait: boolean }>(async (context, options) => {
        const { runRelay } = await import("../../run/run-worker.ts");
        return await runRelay(context, options);
      }),
    );
}
