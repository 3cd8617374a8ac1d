import type { Command } from "commander";
import { instanceArgs } from "../../arguments.ts";
import type { Act } from "../../program.ts";
import { printJson } from "../../show/terminal.ts";
import { reached } from "../reached.ts";
import { instanceNamed } from "./instance-argument.ts";

export function addInstanceShow(instance: Command, act: Act): void {
  instance
    .command("show")
    .description("show an instance with its history")
    .argument("<lifecycle>")
    .argument("[key]")
    .option("--id <id>", "its id, instead of its key")
    .action(
      act<{ id?: string }>(async (context, { id }, lifecycle, key) => {
        const { printInstance, printHistory } = await import("../../show/instance.ts");
        const which = instanceArgs(key, id);
        return await reached(context, async (pawl) => {
          const args = await instanceNamed(pawl, lifecycle, which);
          const journal = await pawl.call("history", args);
          const found = await pawl.call("get", args);
          const permitted = await pawl.call("allowedEvents", args);
          const children = await pawl.call("children", { ...args, limit: 20 });
          const late = await pawl.call("callbacksOfInstance", { ...args, late: true, limit: 20 });
          const { terminal } = context;
          if (terminal.json) printJson(terminal, { instance: found, children, journal, permitted, late });
          else if (terminal.isTty) printInstance(terminal, found, { children, history: journal, permitted, late });
          else printHistory(terminal, journal);
          return undefined;
        });
      }),
    );
}
