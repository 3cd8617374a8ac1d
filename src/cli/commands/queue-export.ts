import type { Command } from "commander";
import { PawlError } from "../../base/errors.ts";
import { type LabelRow, labelsToCsv, labelsToJsonl } from "../../people/formats/export-labels.ts";
import { labelsToLabelStudio } from "../../people/formats/label-studio.ts";
import type { Act } from "../program.ts";
import type { Reached } from "../reach.ts";

const formats = { jsonl: labelsToJsonl, csv: labelsToCsv, "label-studio": labelsToLabelStudio };

const pageSize = 100;

export function addQueueExport(queue: Command, act: Act): void {
  queue
    .command("export")
    .description("write the labels of a queue that count, with their samples, to stdout")
    .argument("<queue>")
    .option("--format <format>", "jsonl, csv or label-studio", "jsonl")
    .option("--late", "also those that came late")
    .action(
      act<{ format: string; late?: boolean }>(async (context, { format, late = false }, name) => {
        const write = Object.hasOwn(formats, format) ? formats[format as keyof typeof formats] : undefined;
        if (write === undefined) throw new PawlError("option_invalid", "--format must be jsonl, csv or label-studio.");
        const { withPawl } = await import("../with-pawl.ts");
        return withPawl(context, {}, async (pawl) => {
          for await (const text of write(rowsOf(pawl, name!, late))) process.stdout.write(text);
          return undefined;
        });
      }),
    );
}

async function* rowsOf(pawl: Reached, queue: string, late: boolean): AsyncGenerator<LabelRow> {
  for (let after: string | undefined; ; ) {
    const page = (await pawl.call("exportLabels", { queue, late, limit: pageSize, after })) as (Omit<
      LabelRow,
      "createdAt"
    > & {
      createdAt: string;
    })[];
    for (const row of page) yield { ...row, createdAt: new Date(row.createdAt) };
    if (page.length < pageSize) return;
    after = page.at(-1)!.id;
  }
}
