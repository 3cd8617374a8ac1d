import type { Command } from "commander";
import type { InstanceAnswer } from "../../answers.ts";
import { instanceArgs, several } from "../../arguments.ts";
import type { Act } from "../../program.ts";
import { printJson } from "../../show/terminal.ts";

interface Options {
  readonly id?: string;
  readonly until?: string[];
  readonly timeout: string;
}

export function addInstanceWait(instance: Command, act: Act): void {
  instance
    .command("wait")
    .description("wait until an instance stands in a state, or has ended; exits with 124 when it takes too long")
    .argument("<lifecycle>")
    .argument("[key]")
    .option("--id <id>", "its id, instead of its key")
    .option("--until <state>", "the state; may be given several times", several)
    .option("--timeout <duration>", "how long to wait", "60s")
    .action(
      act<Options>(async (context, { id, until, timeout }, lifecycle, key) => {
        const args = { lifecycle, ...instanceArgs(key, id), until, timeout };
        const { withPawl } = await import("../../transport/with-pawl.ts");
        const { instanceLine } = await import("../../show/instance.ts");
        return await withPawl(context, { keepTime: true }, async (pawl) => {
          if (context.terminal.verbose) context.terminal.note(`Waiting, ${timeout} at most.`);
          const reached = (await pawl.call("wait", args)) as InstanceAnswer;
          const { terminal } = context;
          if (terminal.json) printJson(terminal, reached);
          else terminal.print(instanceLine(terminal, reached));
          return undefined;
        });
      }),
    );
}
