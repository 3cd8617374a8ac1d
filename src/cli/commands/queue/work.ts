import type { Command } from "commander";
import type { AssignmentResponse, NextResponse, SubmittedResponse } from "../../../http/contract.ts";
import { jsonValue, quoted } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { exitCodes } from "../../show/failure.ts";
import { blankLabel, formFields } from "../../show/form.ts";
import { fromNow } from "../../show/moments.ts";
import { pad, printJson, printTable, type Terminal, visible } from "../../show/terminal.ts";
import type { Call } from "../../transport/client.ts";
import { reached } from "../reached.ts";

interface Who {
  readonly labeler: string;
  readonly reason?: string;
  readonly start?: boolean;
}

type Shown = Extract<NextResponse, { readonly sample: unknown }>;

interface Lead {
  readonly actor: string;
  readonly reason?: string;
  readonly comment?: string;
}

/** What labelers and leads do, from a terminal. */
export function addQueueWork(queue: Command, act: Act): void {
  queue
    .command("next")
    .description("assign the next sample to a labeler; exits with 3 and a reason if there is none")
    .argument("<queue>")
    .requiredOption("--labeler <id>", "the labeler")
    .option("--start", "start it immediately")
    .action(act<Who>((context, options, name) => reached(context, ({ call }) => next(context, call, name!, options))));
  const working = (
    verb: string,
    name: "startAssignment" | "extendAssignment" | "skipAssignment",
    does: string,
    add = (command: Command) => command,
  ) =>
    add(
      queue.command(verb).description(does).argument("<assignment>").requiredOption("--labeler <id>", "the labeler"),
    ).action(
      act<Who>((context, options, id) =>
        reached(context, async ({ call }) => {
          const one = await call(name, { id, ...options });
          printAssignments(context, [one]);
          if (one.status === "in_progress") await printWhatToDo(context.terminal, call, one);
          return undefined;
        }),
      ),
    );
  working("start", "startAssignment", "start an assignment and its time limit");
  working("extend", "extendAssignment", "extend an assignment: its time limit starts again");
  working("skip", "skipAssignment", "skip an assignment; another labeler gets the sample", (command) =>
    command.option("--reason <text>", "reason to record"),
  );
  queue
    .command("answer")
    .description("submit a label")
    .argument("<assignment>")
    .argument("<label>", "the label: JSON, @file, or - for stdin", jsonValue)
    .requiredOption("--labeler <id>", "the labeler")
    .action(
      act<Who>((context, { labeler }, id, label) =>
        reached(context, async ({ call }) => answer(context, await call("submitLabel", { id, labeler, label }))),
      ),
    );
  queue
    .command("assign")
    .description("assign a sample to a labeler, as a lead")
    .argument("<queue>")
    .argument("<key>", "the key of the sample")
    .requiredOption("--to <labeler>", "the labeler")
    .requiredOption("--actor <name>", "the lead's name")
    .option("--reason <text>", "reason to record")
    .action(
      act<Lead & { to: string }>((context, options, name, key) =>
        reached(context, async ({ call }) => {
          const { id } = await call("sample", { queue: name, key });
          return printAssignments(context, [await call("assignSample", { id, ...options })]);
        }),
      ),
    );
  queue
    .command("release")
    .description("revoke an assignment, as a lead")
    .argument("<assignment>")
    .requiredOption("--actor <name>", "the lead's name")
    .option("--reason <text>", "reason to record")
    .action(
      act<Lead>((context, options, id) =>
        reached(context, async ({ call }) =>
          printAssignments(context, [await call("releaseAssignment", { id, ...options })]),
        ),
      ),
    );
  queue
    .command("expired")
    .description("expire overdue assignments and list them")
    .argument("<queue>")
    .action(
      act((context, _, name) =>
        reached(context, async ({ call }) => printAssignments(context, await call("checkExpired", { queue: name }))),
      ),
    );
  for (const [verb, name, does] of [
    ["accept", "acceptLabel", "accept a label, as a lead; this includes late labels"],
    ["reject", "rejectLabel", "reject a label, as a lead; its labeler gets the sample back to correct"],
  ] as const) {
    queue
      .command(verb)
      .description(does)
      .argument("<label>", "its id")
      .requiredOption("--actor <name>", "the lead's name")
      .option("--comment <text>", "for the labeler")
      .action(
        act<Lead>((context, options, id) =>
          reached(context, async ({ call }) => {
            const said = await call(name, { id, ...options });
            const label = "label" in said ? said.label : said;
            if (context.terminal.json) printJson(context.terminal, said);
            else context.terminal.print(`${label.id}  ${label.review}  ${visible(JSON.stringify(label.value))}`);
            return undefined;
          }),
        ),
      );
  }
}

async function next({ terminal }: Context, call: Call, queue: string, options: Who): Promise<number | undefined> {
  const { labeler } = options;
  let given = await call("next", { queue, labeler });
  if (given.assignment === null) {
    if (terminal.json) printJson(terminal, given);
    else terminal.note(given.why.sentence);
    return exitCodes.notFound;
  }
  if (options.start === true && given.assignment.status === "pending") {
    const assignment = await call("startAssignment", { id: given.assignment.id, labeler });
    given = { ...given, assignment };
  }
  if (terminal.json) {
    printJson(terminal, given);
    return undefined;
  }
  printAssignment(terminal, given.assignment);
  printSample(terminal, given.sample);
  await printWhatToDo(terminal, call, given.assignment);
  return undefined;
}

/** Longer values, such as pictures within the data, are for programs. */
const longest = 500;

function printSample(terminal: Terminal, { key, id, data }: Shown["sample"]): void {
  const isFields = typeof data === "object" && data !== null && !Array.isArray(data);
  const rows = [["sample", key ?? id], ...Object.entries(isFields ? data : { data })];
  const width = Math.max(...rows.map(([name]) => visible(String(name)).length));
  for (const [name, value] of rows) {
    const text = visible(typeof value === "string" ? value : JSON.stringify(value));
    const cut = text.length > longest ? `${text.slice(0, 60)}… (${text.length} characters; use --json for all)` : text;
    terminal.print(`  ${terminal.paint.dim(pad(visible(String(name)), width))}  ${cut}`);
  }
}

/** Hints for a person: the fields of a label, and how to submit it. */
async function printWhatToDo(terminal: Terminal, call: Call, assignment: AssignmentResponse): Promise<void> {
  if (!terminal.isTty || terminal.json) return;
  const { dim } = terminal.paint;
  const { id, queue, labelerId } = assignment;
  const who = `--labeler ${quoted(labelerId)}`;
  if (assignment.status === "pending") {
    terminal.print(`\n  ${dim("Start:")}  pawl queue start ${id} ${who}`);
    return;
  }
  const { labelSchema } = await call("queue", { queue: queue });
  const fields = formFields(labelSchema);
  const width = Math.max(...fields.map(({ name }) => name.length));
  terminal.print("");
  for (const { name, takes } of fields) terminal.print(`  ${dim(pad(visible(name), width))}  ${visible(takes)}`);
  const label = quoted(JSON.stringify(blankLabel(labelSchema)));
  terminal.print(`\n  ${dim("Submit:")}  pawl queue answer ${id} ${visible(label)} ${who}`);
  terminal.print(`  ${dim("Skip:")}    pawl queue skip ${id} --reason '…' ${who}`);
}

function answer({ terminal }: Context, answer: SubmittedResponse): undefined {
  if (terminal.json) printJson(terminal, answer);
  else {
    printAssignment(terminal, answer.assignment);
    if (answer.late) terminal.note("The label arrived after the deadline. It is kept, and used if a lead accepts it.");
  }
  return undefined;
}

function printAssignment(terminal: Terminal, one: AssignmentResponse): void {
  const until = one.status === "pending" ? one.startBy : one.status === "in_progress" ? one.deadlineAt : null;
  const moment =
    until !== null && terminal.isTty ? `${new Date(until).toLocaleTimeString("en-GB")}, ${fromNow(until)}` : until;
  const when = moment === null ? "" : `  ${one.status === "pending" ? "start" : "finish"} by ${moment}`;
  terminal.print(`${one.id}  ${one.status}${terminal.paint.dim(when)}`);
}

function printAssignments({ terminal }: Context, assignments: readonly AssignmentResponse[]): undefined {
  if (terminal.json) printJson(terminal, assignments.length === 1 ? assignments[0] : assignments);
  else if (assignments.length === 1) printAssignment(terminal, assignments[0]!);
  else if (assignments.length === 0 && terminal.isTty) terminal.note("No overdue assignments.");
  else {
    printTable(terminal, assignments, [
      { title: "assignment", text: (one) => one.id },
      { title: "labeler", text: (one) => one.labelerId },
      { title: "status", text: (one) => one.status },
      { title: "attempts", text: (one) => String(one.attempts), alignRight: true },
      { title: "sample", text: (one) => one.sampleId },
    ]);
  }
  return undefined;
}
