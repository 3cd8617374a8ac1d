import type { Command } from "commander";
import type { Act } from "../../program.ts";

export function addStart(program: Command, act: Act): void {
  program
    .command("start")
    .description("run Pawl: opens the database, brings it up to date, runs steps, serves the console")
    .option(
      "--port <port>",
      "where the console and the API are; that of the config, or 7295 or the next free one unless given",
    )
    .option("--no-wait", "exit when the database server cannot be reached at the start, instead of waiting for it")
    .action(
      act<{ port?: string; wait: boolean }>(async (context, options) => {
        const { runPawl } = await import("../../run/run-pawl.ts");
        return await runPawl(context, options);
      }),
    );
}
