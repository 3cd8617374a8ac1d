import type { Command } from "commander";
import { instanceArgs, several } from "../../arguments.ts";
import type { Act } from "../../program.ts";
import { printJson } from "../../show/terminal.ts";
import { reached } from "../reached.ts";
import { instanceNamed } from "./instance-argument.ts";

interface Options {
  readonly id?: string;
  readonly until?: string[];
  readonly timeout: string;
}

export function addInstanceWait(instance: Command, act: Act): void {
  instance
    .command("wait")
    .description("wait until an instance is in a state or has ended; exits with 124 on timeout")
    .argument("<lifecycle>")
    .argument("[key]")
    .option("--id <id>", "its id, instead of its key")
    .option("--until <state>", "the state; may be given several times", several)
    .option("--timeout <duration>", "how long to wait", "60s")
    .action(
      act<Options>(async (context, { id, until, timeout }, lifecycle, key) => {
        const which = instanceArgs(key, id);
        const { instanceLine } = await import("../../show/instance.ts");
        return await reached(
          context,
          async (pawl) => {
            if (context.terminal.verbose) context.terminal.note(`Waiting up to ${timeout}.`);
            const found = await pawl.call("wait", { ...(await instanceNamed(pawl, lifecycle, which)), until, timeout });
            const { terminal } = context;
            if (terminal.json) printJson(terminal, found);
            else terminal.print(instanceLine(terminal, found));
            return undefined;
          },
          { keepTime: true },
        );
      }),
    );
}
