import type { Command } from "commander";
import type { Act } from "../../program.ts";

export function addServe(program: Command, act: Act): void {
  program
    .command("serve")
    .description("run only the console and the HTTP API, on a database server")
    .option("--port <port>", "port (default: that of the config, or the next free one from 7295)")
    .option("--no-wait", "exit if the database cannot be reached, instead of waiting for it")
    .action(
      act<{ port?: string; wait: boolean }>(async (context, options) => {
        const { runServer } = await import("../../run/run-worker.ts");
        return await runServer(context, options);
      }),
    );
}
