import type { Command } from "commander";
import type { Act } from "../program.ts";
import { printJson, visible } from "../show/terminal.ts";

export function addExplain(program: Command, act: Act): void {
  program
    .command("explain")
    .description("tell why an instance failed, what happens next, and what a retry would do")
    .usage("[options] <id>\n       pawl explain [options] <lifecycle> <key>")
    .argument("<id>", "its id; with a key, its lifecycle")
    .argument("[key]")
    .action(
      act(async ({ terminal, ...context }, _, first, key) => {
        const { withPawl } = await import("../transport/with-pawl.ts");
        const args = key === undefined ? { id: first } : { lifecycle: first, key };
        return await withPawl({ terminal, ...context }, {}, async (pawl) => {
          const explained = (await pawl.call("explainRecovery", args)) as { sentences: readonly string[] };
          if (terminal.json) printJson(terminal, explained);
          else for (const sentence of explained.sentences) terminal.print(visible(sentence));
          return undefined;
        });
      }),
    );
}
