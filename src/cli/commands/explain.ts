import type { Command } from "commander";
import type { Act } from "../program.ts";
import { exitCodes } from "../show/failure.ts";
import { printJson, visible } from "../show/terminal.ts";
import { reached } from "./reached.ts";

const help = `
Exit codes:
  0  the instance moves by itself, waits for an event, or has ended
  1  the instance is stuck until a person acts
  3  the instance does not exist

Examples:
  pawl explain expense trip-to-oslo
  pawl explain 01b8dd58-e200-7001-9beb-f7b99343f5ec --json`;

export function addExplain(program: Command, act: Act): void {
  program
    .command("explain")
    .description("explain what an instance waits for, what happens next, and whether it is stuck")
    .usage("[options] <id>\n       pawl explain [options] <lifecycle> <key>")
    .argument("<id>", "its id; with a key, its lifecycle")
    .argument("[key]")
    .addHelpText("after", help)
    .action(
      act((context, _, first, key) => {
        const { terminal } = context;
        const args = key === undefined ? { id: first } : { lifecycle: first, key };
        return reached(context, async (pawl) => {
          const explained = (await pawl.call("explain", args))!;
          const { printExplanation } = await import("../show/explanation.ts");
          if (terminal.json) printJson(terminal, explained);
          else if (terminal.isTty) printExplanation(terminal, explained);
          else for (const sentence of explained.sentences) terminal.print(visible(sentence));
          return explained.stuck === null ? exitCodes.ok : exitCodes.failed;
        });
      }),
    );
}
