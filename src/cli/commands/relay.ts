import type { Command } from "commander";
import type { Act } from "../program.ts";

export function addRelay(program: Command, act: Act): void {
  program
    .command("relay")
    .description("send what is in the outbox of the database server of the settings, and nothing else")
    .action(
      act(async (context) => {
        const { runRelay } = await import("../run-worker.ts");
        return await runRelay(context);
      }),
    );
}
