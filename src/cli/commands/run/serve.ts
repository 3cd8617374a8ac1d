import type { Command } from "commander";
import type { Act } from "../../program.ts";

export function addServe(program: Command, act: Act): void {
  program
    .command("serve")
    .description("serve the console and the API of the database server of the settings, and work on nothing")
    .option("--port <port>", "where; that of the config, or 7295 or the next free one unless given")
    .option("--no-wait", "exit when the database cannot be reached at the start, instead of waiting for it")
    .action(
      act<{ port?: string; wait: boolean }>(async (context, options) => {
        const { runServer } = await import("../../run/run-worker.ts");
        return await runServer(context, options);
      }),
    );
}
