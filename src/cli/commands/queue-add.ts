import { createReadStream } from "node:fs";
import type { Command } from "commander";
import { messageOf, PawlError } from "../../base/errors.ts";
import { samplesFromCsv, samplesFromJsonl } from "../../people/formats/import-samples.ts";
import { jsonValue } from "../arguments.ts";
import { exitCodes } from "../failure.ts";
import type { Act, Context } from "../program.ts";
import type { Reached } from "../reach.ts";
import { printJson } from "../terminal.ts";

interface Options {
  readonly file?: string;
  readonly key?: string;
  readonly gold?: string;
  readonly delimiter?: string;
  readonly priority?: number;
}

/** Well below what one request may hold. */
const mostBytes = 512 * 1024;
const mostSamples = 500;

export function addQueueAdd(queue: Command, act: Act): void {
  queue
    .command("add")
    .description("add samples: one as JSON, or those of a file; a key that is there already is not added again")
    .usage("[options] <queue> <data>\n       pawl queue add [options] <queue> --file samples.jsonl")
    .argument("<queue>")
    .argument("[data]", "what a labeler is shown: JSON, @file, or - for stdin", jsonValue)
    .option("--file <path>", "JSON Lines, or CSV when it ends with .csv; - for JSON Lines on stdin")
    .option("--key <key>", "the sample's key; with --file, the field that holds it")
    .option("--gold <label>", "the label that is known to be right, as JSON; with --file, the field that holds it")
    .option("--priority <number>", "its place in a queue ordered by priority: the lower, the sooner", Number)
    .option("--delimiter <sign>", "what stands between the fields of a CSV")
    .action(
      act<Options>(async (context, options, name, data) => {
        const { withPawl } = await import("../with-pawl.ts");
        return withPawl(context, { create: true }, (pawl) =>
          options.file === undefined
            ? addOne(context, pawl, name!, data, options)
            : addFile(context, pawl, name!, options),
        );
      }),
    );
}

interface Added {
  readonly id: string;
  readonly key: string | null;
  readonly created: boolean;
}

async function addOne(
  { terminal }: Context,
  pawl: Reached,
  queue: string,
  data: unknown,
  { key, gold, priority }: Options,
): Promise<undefined> {
  if (data === undefined) throw new PawlError("option_invalid", "Give the sample as JSON, or a --file of samples.");
  const sample = { data, key, priority, ...(gold === undefined ? {} : { gold: jsonValue(gold) }) };
  const [added] = (await pawl.call("addSamples", { queue, samples: [sample] })) as Added[];
  if (terminal.json) printJson(terminal, added);
  else terminal.print(`${added!.id}  ${added!.created ? "added" : "was there already"}`);
}

/** Bad lines are told with their numbers and left out; the rest is added. */
async function addFile({ terminal }: Context, pawl: Reached, queue: string, options: Options): Promise<number> {
  const { file = "-", key, gold, delimiter } = options;
  const input = file === "-" ? process.stdin : createReadStream(file);
  const lines = file.endsWith(".csv")
    ? samplesFromCsv(input, { key, gold, delimiter })
    : samplesFromJsonl(input, { key, gold });
  const told = { added: 0, known: 0, bad: 0 };
  let [batch, bytes]: [unknown[], number] = [[], 0];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    for (const one of (await pawl.call("addSamples", { queue, samples: batch })) as Added[]) {
      if (one.created) told.added += 1;
      else told.known += 1;
    }
    [batch, bytes] = [[], 0];
  };
  try {
    for await (const line of lines) {
      if (!line.ok) {
        told.bad += 1;
        terminal.note(`Line ${line.line}: ${line.problem} ${line.remedy}`);
        continue;
      }
      const { key: own, data, gold: known } = line.sample;
      const sample = { data, ...(own === null ? {} : { key: own }), ...(known === undefined ? {} : { gold: known }) };
      const size = Buffer.byteLength(JSON.stringify(sample));
      if (batch.length === mostSamples || bytes + size > mostBytes) await flush();
      batch.push(sample);
      bytes += size;
    }
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw new PawlError("option_invalid", `${file} cannot be read: ${messageOf(error)}.`);
  }
  await flush();
  if (terminal.json) printJson(terminal, told);
  else terminal.print(`${told.added} added, ${told.known} there already, ${told.bad} not usable`);
  return told.bad === 0 ? exitCodes.ok : exitCodes.partly;
}
