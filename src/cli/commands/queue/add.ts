import type { Command } from "commander";
import { jsonValue } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { printJson } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";

interface Options {
  readonly key?: string;
  readonly gold?: unknown;
  readonly priority?: number;
}

export function addQueueAdd(queue: Command, act: Act): void {
  queue
    .command("add")
    .description("add a sample; an existing key is not added again. For many, use pawl queue import")
    .argument("<queue>")
    .argument("<data>", "what the labeler sees: JSON, @file, or - for stdin", jsonValue)
    .option("--key <key>", "the sample's key")
    .option("--gold <label>", "the known correct label: JSON, @file, or - for stdin", jsonValue)
    .option("--priority <number>", "its priority: lower is handed out first", Number)
    .action(
      act<Options>((context, options, name, data) =>
        reached(context, (pawl) => addOne(context, pawl, name!, data, options), { create: true }),
      ),
    );
}

async function addOne(
  { terminal }: Context,
  pawl: Reached,
  queue: string,
  data: unknown,
  { key, gold, priority }: Options,
): Promise<undefined> {
  const sample = { data, key, priority, ...(gold === undefined ? {} : { gold }) };
  const [one] = await pawl.call("addSamples", { queue, samples: [sample] });
  if (terminal.json) printJson(terminal, one);
  else terminal.print(`${one!.id}  ${one!.created ? "added" : "already exists"}`);
}
