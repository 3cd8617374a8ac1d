import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import type { Command } from "commander";
import { canonicalJson } from "../../../base/canonical-json.ts";
import { messageOf, PawlError } from "../../../base/errors.ts";
import {
  type ColumnKind,
  type SampleRow,
  samplesFromCsv,
  samplesFromJsonl,
} from "../../../people/formats/import-samples.ts";
import { addUsable, problemOf } from "../../../people/formats/usable-samples.ts";
import { several } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { exitCodes } from "../../show/failure.ts";
import { Progress } from "../../show/progress.ts";
import { printJson } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";

interface Options {
  readonly key?: string;
  readonly gold?: string;
  readonly delimiter?: string;
  readonly column?: readonly string[];
}

/** Well below what one request may hold. */
const maxBytes = 512 * 1024;
const maxSamples = 500;
const maxNotes = 20;

export function addQueueImport(queue: Command, act: Act): void {
  queue
    .command("import")
    .description("add the samples of a file; existing samples are skipped, so you can repeat it")
    .argument("<queue>")
    .argument("<file>", "JSON Lines, or CSV if the name ends with .csv; - for JSON Lines on stdin")
    .option("--key <field>", "field with the key of a sample (default: a hash of its content)")
    .option("--gold <field>", "field with the known correct label")
    .option("--delimiter <sign>", "field separator of a CSV file")
    .option(
      "--column <name:kind>",
      "kind of a CSV column that is not text: number, boolean or json; repeatable",
      several,
    )
    .action(
      act<Options>((context, options, name, file) =>
        reached(context, (pawl) => importFile(context, pawl, name!, file!, options), { create: true }),
      ),
    );
}

/** Bad lines and samples that the queue refuses are reported with their numbers and left out; the rest is added. */
async function importFile(
  { terminal }: Context,
  pawl: Reached,
  queue: string,
  file: string,
  options: Options,
): Promise<number> {
  const counts = { added: 0, known: 0, bad: 0 };
  await pawl.call("queue", { queue }); // Before anything is read: is there such a queue?
  const progress = new Progress(terminal, sizeOf(file));
  let [batch, numbers, bytes]: [unknown[], number[], number] = [[], [], 0];
  const bad = (line: number, problem: string, remedy: string): void => {
    counts.bad += 1;
    if (counts.bad <= maxNotes) progress.note(`Line ${line}: ${problem} ${remedy}`);
  };
  const add = (samples: readonly unknown[]) => pawl.call("addSamples", { queue, samples });
  const flush = async (byte: number): Promise<void> => {
    const refuse = (index: number, error: PawlError): void => {
      const { problem, remedy } = problemOf(error);
      bad(numbers[index]!, problem, remedy);
    };
    for (const { created } of await addUsable(batch, add, refuse)) {
      if (created) counts.added += 1;
      else counts.known += 1;
    }
    [batch, numbers, bytes] = [[], [], 0];
    progress.show(byte, summary(counts));
  };
  try {
    for await (const line of linesOf(file, options)) {
      if (!line.ok) {
        bad(line.line, line.problem, line.remedy);
        continue;
      }
      const { key, data, gold } = line.sample;
      const sample = { data, key: key ?? keyOf(line.sample), ...(gold === undefined ? {} : { gold }) };
      const size = Buffer.byteLength(JSON.stringify(sample));
      if (batch.length === maxSamples || bytes + size > maxBytes) await flush(line.cursor.byte);
      batch.push(sample);
      numbers.push(line.line);
      bytes += size;
    }
    await flush(sizeOf(file) ?? 0);
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw new PawlError("option_invalid", `${file} cannot be read: ${messageOf(error)}.`);
  } finally {
    progress.end();
  }
  if (counts.bad > maxNotes) terminal.note(`… and ${counts.bad - maxNotes} more lines.`);
  if (terminal.json) printJson(terminal, counts);
  else terminal.print(summary(counts));
  return counts.bad === 0 ? exitCodes.ok : exitCodes.partly;
}

function linesOf(file: string, { key, gold, delimiter, column = [] }: Options) {
  const columns = Object.fromEntries(column.map(kindOf));
  const input = file === "-" ? process.stdin : createReadStream(file);
  if (!file.endsWith(".csv")) return samplesFromJsonl(input, { key, gold });
  return samplesFromCsv(input, { key, gold, delimiter, columns });
}

function kindOf(text: string): [string, ColumnKind] {
  const [, name, kind] = /^(.+):(text|number|boolean|json)$/.exec(text) ?? [];
  if (name !== undefined) return [name, kind as ColumnKind];
  throw new PawlError("option_invalid", `--column "${text}" is not valid. Write name:kind, such as count:number.`);
}

/** Equal content has an equal key, so that an import that was interrupted can be run again. */
function keyOf({ data }: SampleRow): string {
  return createHash("sha256").update(canonicalJson(data)).digest("hex").slice(0, 32);
}

function sizeOf(file: string): number | undefined {
  return file === "-" ? undefined : statSync(file, { throwIfNoEntry: false })?.size;
}

function summary({ added, known, bad }: { added: number; known: number; bad: number }): string {
  const number = (count: number) => count.toLocaleString("en");
  return `${number(added)} added, ${number(known)} already present, ${number(bad)} invalid`;
}
