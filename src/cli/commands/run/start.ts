import type { Command } from "commander";
import type { Act } from "../../program.ts";

export function addStart(program: Command, act: Act): void {
  program
    .command("start")
    .description("run everything in one process: migrations, workers, console and API")
    .option(
      "--port <port>",
      "port of the console and the API (default: that of the config, or the next free one from 7295)",
    )
    .option("--no-wait", "exit if the database server cannot be reached, instead of waiting for it")
    .action(
      act<{ port?: string; wait: boolean }>(async (context, options) => {
        const { runPawl } = await import("../../run/run-pawl.ts");
        return await runPawl(context, options);
      }),
    );
}
