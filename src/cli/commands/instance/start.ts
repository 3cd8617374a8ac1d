import type { Command } from "commander";
import { jsonValue } from "../../arguments.ts";
import type { Act } from "../../program.ts";
import { printJson } from "../../show/terminal.ts";
import { reached } from "../reached.ts";
import { withCause } from "../usual-options.ts";

interface Options {
  readonly key?: string;
  readonly data?: unknown;
  readonly actor?: string;
  readonly reason?: string;
}

export function addInstanceStart(instance: Command, act: Act): void {
  withCause(
    instance
      .command("start")
      .description("start an instance; an existing key returns its instance")
      .argument("<lifecycle>")
      .option("--key <key>", "your own name for it, unique within the lifecycle")
      .option("--data <json>", "its data: JSON, @file, or - for stdin", jsonValue),
  ).action(
    act<Options>(async (context, { key, data, actor, reason }, lifecycle) => {
      const { instanceLine } = await import("../../show/instance.ts");
      return await reached(
        context,
        async (pawl) => {
          const args = { lifecycle, key, data, actor, reason };
          const started = await pawl.call("start", args);
          const { terminal } = context;
          if (terminal.json) printJson(terminal, started);
          else terminal.print(instanceLine(terminal, started));
          if (!started.created) terminal.note("Its key already exists; nothing was started.");
          return undefined;
        },
        { create: true },
      );
    }),
  );
}
