import type { Command } from "commander";
import type { Act } from "../program.ts";
import { printJson, visible } from "../show/terminal.ts";
import { reached } from "./reached.ts";

export function addExplain(program: Command, act: Act): void {
  program
    .command("explain")
    .description("tell why an instance failed, what happens next, and what a retry would do")
    .usage("[options] <id>\n       pawl explain [options] <lifecycle> <key>")
    .argument("<id>", "its id; with a key, its lifecycle")
    .argument("[key]")
    .action(
      act((context, _, first, key) => {
        const { terminal } = context;
        const args = key === undefined ? { id: first } : { lifecycle: first, key };
        return reached(context, async (pawl) => {
          const explained = await pawl.call("explainRecovery", args);
          if (terminal.json) printJson(terminal, explained);
          else for (const sentence of explained.sentences) terminal.print(visible(sentence));
          return undefined;
        });
      }),
    );
}
