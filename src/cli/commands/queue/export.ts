import type { Command } from "commander";
import { PawlError } from "../../../base/errors.ts";
import { type LabelRow, labelsToCsv, labelsToJsonl } from "../../../people/formats/export-labels.ts";
import { labelsToLabelStudio } from "../../../people/formats/label-studio.ts";
import type { Act } from "../../program.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";

const formats = ["jsonl", "csv", "label-studio"] as const;
type Format = (typeof formats)[number];

const pageSize = 100;

interface Options {
  readonly format: string;
  readonly late?: boolean;
  readonly skipped?: boolean;
}

export function addQueueExport(queue: Command, act: Act): void {
  queue
    .command("export")
    .description("write the accepted labels of a queue, with their samples, to stdout")
    .argument("<queue>")
    .option("--format <format>", "jsonl, csv or label-studio", "jsonl")
    .option("--late", "include late labels")
    .option("--skipped", "include skips, as rows without a label; label-studio always includes them")
    .action(
      act<Options>(async (context, options, name) => {
        const format = formats.find((one) => one === options.format);
        if (format === undefined) throw new PawlError("option_invalid", "--format must be jsonl, csv or label-studio.");
        return reached(context, async (pawl) => {
          for await (const text of await written(pawl, name!, format, options)) process.stdout.write(text);
          return undefined;
        });
      }),
    );
}

/** Label Studio distinguishes choices from free text, and has skips: the queue's form says which field is which. */
async function written(
  pawl: Reached,
  queue: string,
  format: Format,
  { late = false, skipped = false }: Options,
): Promise<AsyncGenerator<string>> {
  if (format === "jsonl") return labelsToJsonl(rowsOf(pawl, { queue, late, skipped }));
  if (format === "csv") return labelsToCsv(rowsOf(pawl, { queue, late, skipped }));
  const { labelSchema } = await pawl.call("queue", { queue });
  return labelsToLabelStudio(rowsOf(pawl, { queue, late, skipped: true }), { form: labelSchema });
}

async function* rowsOf(
  pawl: Reached,
  wanted: { readonly queue: string; readonly late: boolean; readonly skipped: boolean },
): AsyncGenerator<LabelRow> {
  for (let after: string | undefined; ; ) {
    const page = await pawl.call("exportLabels", { ...wanted, limit: pageSize, after });
    for (const row of page) yield { ...row, createdAt: new Date(row.createdAt) };
    if (page.length < pageSize) return;
    after = page.at(-1)!.id;
  }
}
