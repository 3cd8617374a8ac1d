import type { Command } from "commander";
import type { LabelerResponse, QueueResponse } from "../../../http/contract.ts";
import { jsonValue, several, wholeNumber } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { ago } from "../../show/moments.ts";
import { type Column, printJson, printList, printTable, visible } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";
import { addQueueAdd } from "./add.ts";
import { addQueueExport } from "./export.ts";
import { addQueueImport } from "./import.ts";
import { addQueueMetrics } from "./metrics.ts";
import { addQueueWork } from "./work.ts";

export function addQueue(program: Command, act: Act): void {
  const queue = program.command("queue").description("manage labeling queues, and label samples");
  queue
    .command("list", { isDefault: true })
    .description("list the queues")
    .action(act((context) => reached(context, async (pawl) => printQueues(context, await pawl.call("queues", {})))));
  queue
    .command("show")
    .description("show a queue: its settings, and its newest samples")
    .argument("<queue>")
    .option("--state <state>", "only samples in this state: open, agreed, exhausted, unassignable or closed")
    .option("--limit <count>", "maximum number of samples", wholeNumber, 20)
    .action(
      act<{ state?: string; limit: number }>((context, options, name) =>
        reached(context, (pawl) => show(context, pawl, name!, options)),
      ),
    );
  queue
    .command("create")
    .description("create a queue at run time")
    .argument("<queue>")
    .requiredOption("--label <json>", "JSON Schema of a label: JSON, @file, or - for stdin", jsonValue)
    .option("--settings <json>", "settings such as overlap and finishWithin, as JSON", jsonValue)
    .action(
      act<{ label: unknown; settings?: object }>((context, { label, settings }, name) =>
        reached(
          context,
          async (pawl) => {
            printQueues(context, [await pawl.call("createQueue", { queue: name, definition: { ...settings, label } })]);
          },
          { create: true },
        ),
      ),
    );
  for (const [verb, call, does] of [
    ["pause", "deactivateQueue", "deactivate a queue: no new assignments; existing ones can be finished"],
    ["resume", "activateQueue", "activate a queue again"],
  ] as const) {
    queue
      .command(verb)
      .description(does)
      .argument("<queue>")
      .action(
        act((context, _, name) =>
          reached(context, async (pawl) => printQueues(context, [await pawl.call(call, { queue: name })])),
        ),
      );
  }
  addQueueAdd(queue, act);
  addQueueImport(queue, act);
  addQueueExport(queue, act);
  addQueueWork(queue, act);
  addQueueMetrics(queue, act);
}

export function addLabeler(program: Command, act: Act): void {
  const labeler = program.command("labeler").description("list, add, pause and resume labelers");
  labeler
    .command("list", { isDefault: true })
    .description("list labelers")
    .action(act((context) => reached(context, async (pawl) => tellLabelers(context, await pawl.call("labelers", {})))));
  labeler
    .command("add")
    .description("add or update a labeler")
    .argument("<id>")
    .option("--name <name>")
    .option("--skill <skill>", "a skill of the labeler; repeatable", several)
    .option("--inactive", "stop assigning samples to a labeler")
    .option("--active", "assign samples to a labeler again")
    .action(
      act<{ name?: string; skill?: string[]; inactive?: boolean; active?: boolean }>((context, options, id) =>
        reached(context, async (pawl) => {
          const active = options.inactive === true ? false : options.active;
          const { name, skill: skills } = options;
          tellLabelers(context, [await pawl.call("upsertLabeler", { id, name, skills, active })]);
        }),
      ),
    );
}

function printQueues({ terminal }: Context, queues: readonly QueueResponse[]): void {
  printList(terminal, queues, queueColumns, "No queues. Declare one, or use pawl queue create");
}

async function show(
  { terminal }: Context,
  pawl: Reached,
  queue: string,
  options: { readonly state?: string; readonly limit: number },
): Promise<void> {
  const known = await pawl.call("queue", { queue });
  const samples = await pawl.call("samples", { queue, ...options });
  if (terminal.json) return printJson(terminal, { ...known, samples });
  printTable(terminal, [known], queueColumns);
  terminal.print("");
  printTable(terminal, samples, [
    {
      title: "sample",
      text: (one) => one.key ?? one.id,
      shown: (one, paint) => paint.bold(visible(one.key ?? one.id)),
    },
    { title: "state", text: (one) => one.state },
    { title: "labels", text: (one) => `${one.labeled} of ${one.needs}` },
    { title: "held", text: (one) => String(one.held), alignRight: true },
    { title: "moved", text: (one) => one.movedAt, shown: (one) => ago(one.movedAt) },
    {
      title: "outcome",
      text: (one) => one.reason ?? (one.consensus === null ? "" : JSON.stringify(one.consensus)),
    },
  ]);
}

const queueColumns: readonly Column<QueueResponse>[] = [
  { title: "queue", text: (one) => one.name, shown: (one, paint) => paint.bold(one.name) },
  {
    title: "status",
    text: (one) => (one.active ? "active" : "inactive"),
    shown: (one, paint) => (one.active ? paint.green("active") : paint.yellow("inactive")),
  },
  { title: "labels each", text: (one) => String(one.overlap), alignRight: true },
  { title: "order", text: (one) => one.order },
  {
    title: "who",
    text: (one) => one.labelers?.join(", ") ?? (one.skills.length > 0 ? `skills: ${one.skills.join(", ")}` : "anyone"),
  },
  { title: "review", text: (one) => (one.review ? "yes" : "no") },
  { title: "from", text: (one) => (one.source === "code" ? "code" : "run time") },
];

function tellLabelers({ terminal }: Context, labelers: readonly LabelerResponse[]): void {
  const none = "No labelers. Queues that are open to anyone need none.";
  printList(terminal, labelers, labelerColumns, none);
}

const labelerColumns: readonly Column<LabelerResponse>[] = [
  { title: "labeler", text: (one) => one.id, shown: (one, paint) => paint.bold(visible(one.id)) },
  { title: "name", text: (one) => one.name ?? "" },
  { title: "skills", text: (one) => one.skills.join(", ") },
  { title: "status", text: (one) => (one.active ? "active" : "inactive") },
];
