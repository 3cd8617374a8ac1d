import type { Command } from "commander";
import type { Act } from "../program.ts";

export function addStart(program: Command, act: Act): void {
  program
    .command("start")
    .description(
      "run Pawl: opens the database, brings it up to date, runs steps, fires what is due, answers other terminals",
    )
    .action(
      act(async (context) => {
        const { runPawl } = await import("../run-pawl.ts");
        return await runPawl(context);
      }),
    );
}
