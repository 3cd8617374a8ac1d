import type { Command } from "commander";
import type {
  AttemptAnswer,
  CallbackAnswer,
  ChildrenAnswer,
  InstanceAnswer,
  MoveAnswer,
  PermissionAnswer,
} from "../../answers.ts";
import { instanceArgs } from "../../arguments.ts";
import type { Act } from "../../program.ts";
import { printJson } from "../../show/terminal.ts";

export function addInstanceShow(instance: Command, act: Act): void {
  instance
    .command("show")
    .description("show an instance and all that happened to it")
    .argument("<lifecycle>")
    .argument("[key]")
    .option("--id <id>", "its id, instead of its key")
    .action(
      act<{ id?: string }>(async (context, { id }, lifecycle, key) => {
        const { withPawl } = await import("../../transport/with-pawl.ts");
        const { printInstance, printHistory } = await import("../../show/instance.ts");
        const args = { lifecycle, ...instanceArgs(key, id) };
        return await withPawl(context, {}, async (pawl) => {
          const journal = (await pawl.call("journal", { ...args, attempts: true })) as (MoveAnswer | AttemptAnswer)[];
          const found = (await pawl.call("get", args)) as InstanceAnswer;
          const permitted = (await pawl.call("permitted", args)) as PermissionAnswer[];
          const children = (await pawl.call("children", { ...args, limit: 20 })) as ChildrenAnswer;
          const late = (await pawl.call("callbacks", { ...args, late: true, limit: 20 })) as CallbackAnswer[];
          const { terminal } = context;
          if (terminal.json) printJson(terminal, { instance: found, children, journal, permitted, late });
          else if (terminal.isTty) printInstance(terminal, found, { children, history: journal, permitted, late });
          else printHistory(terminal, journal);
          return undefined;
        });
      }),
    );
}
