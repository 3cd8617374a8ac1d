import type { Command } from "commander";
import type { SubmissionAnswer } from "../../../http/contract.ts";
import { jsonValue, quoted, several, wholeNumber } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { crowdColumns, jobColumns, printJob, submissionColumns } from "../../show/crowd.ts";
import { printJson, printList, printPage, printTable } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";
import { addCrowdDecisions } from "./decide.ts";
import { jobId, jobMeant, jobNamed } from "./job-argument.ts";
import { addCrowdMarketplaces } from "./marketplaces.ts";

interface Page {
  readonly state?: readonly string[];
  readonly limit: number;
  readonly after?: string;
}

interface Asking {
  readonly content: unknown;
  readonly key?: string;
  readonly actor?: string;
  readonly reason?: string;
}

export function addCrowd(program: Command, act: Act): void {
  const crowd = program
    .command("crowd")
    .description("what is asked on marketplaces, what their workers submit, and what is decided about it");
  crowd
    .command("list", { isDefault: true })
    .description("list the crowds: how many jobs and submissions stand in which state")
    .action(act((context) => reached(context, (pawl) => list(context, pawl))));
  addPage(crowd.command("jobs").description("list jobs, newest first").argument("[crowd]", "only those of this crowd"))
    .option("--state <state>", "only those in this state, such as running; may be given several times", several)
    .action(
      act<Page>((context, options, name) =>
        reached(context, (pawl) => jobs(context, pawl, { crowd: name, ...options })),
      ),
    );
  crowd
    .command("show")
    .description("show a job with what was submitted for it")
    .argument("<job>", jobMeant)
    .action(act((context, _, job) => reached(context, (pawl) => show(context, pawl, job!))));
  addPage(
    crowd
      .command("submissions")
      .description("list submissions, newest first")
      .argument("[crowd]", "only those to this crowd"),
  )
    .option("--job <job>", `only those for one job: ${jobMeant}`)
    .option("--state <state>", "only those in this state, such as errored; may be given several times", several)
    .action(
      act<Page & { job?: string }>((context, { job, ...page }, name) =>
        reached(context, async (pawl) => {
          const found =
            job === undefined
              ? await pawl.call("submissions", { crowd: name, ...page })
              : await pawl.call("submissionsOfJob", { id: await jobId(pawl, job), ...page });
          printPage(context.terminal, found, submissionColumns, { limit: page.limit, none: "There are none." });
        }),
      ),
    );
  crowd
    .command("ask")
    .description("ask a crowd; a key that is there already is not asked again")
    .argument("<crowd>")
    .requiredOption("--content <json>", "what workers are shown: JSON, @file, or - for stdin", jsonValue)
    .option("--key <key>", "a name of your own, unique within the crowd")
    .option("--actor <name>", "who asks")
    .option("--reason <text>", "why")
    .action(
      act<Asking>((context, options, name) =>
        reached(context, (pawl) => ask(context, pawl, { crowd: name, ...options }), { create: true }),
      ),
    );
  addCrowdDecisions(crowd, act);
  addCrowdMarketplaces(crowd, act);
}

function addPage(command: Command): Command {
  return command
    .option("--limit <count>", "at most so many", wholeNumber, 50)
    .option("--after <id>", "go on after the last one of the page before");
}

async function list({ terminal }: Context, pawl: Reached): Promise<undefined> {
  const all = await pawl.call("crowds", {});
  const none = "The config lists no crowd. Declare one with crowd(), and its marketplace with it.";
  printList(terminal, all, crowdColumns, none);
}

/** Of one crowd, or of all of them as one list: ids rise with time, so the newest come first. */
async function jobs({ terminal }: Context, pawl: Reached, { crowd, ...page }: Page & { crowd: string | undefined }) {
  const crowds = crowd === undefined ? (await pawl.call("crowds", {})).map(({ name }) => name) : [crowd];
  const lists = await Promise.all(crowds.map((each) => pawl.call("crowdJobs", { crowd: each, ...page })));
  const found = lists.flat().sort((one, other) => (one.id < other.id ? 1 : -1));
  const none = "There are none. Ask a crowd: pawl crowd ask";
  return printPage(terminal, found.slice(0, page.limit), jobColumns, { limit: page.limit, none });
}

/** The most that are shown with a job; all of them: pawl crowd submissions --job. */
const mostShown = 100;

async function show({ terminal }: Context, pawl: Reached, which: string): Promise<undefined> {
  const job = await jobNamed(pawl, which);
  const found = await pawl.call("submissionsOfJob", { id: job.id, limit: mostShown });
  if (terminal.json) {
    printJson(terminal, { ...job, submissions: found });
    return;
  }
  if (terminal.isTty) printJob(terminal, job);
  else {
    printTable(terminal, [job], jobColumns);
    terminal.print("");
  }
  if (found.length > 0 || !terminal.isTty) printTable(terminal, found, submissionColumns);
  else terminal.note("  Nothing was submitted yet.");
  printWhatToDo(terminal, found);
}

/** How to decide what waits for somebody: for a person who looks on. */
function printWhatToDo(terminal: Context["terminal"], found: readonly SubmissionAnswer[]): void {
  const open = found.find(({ state }) => state === "pending_approval" || state === "errored");
  if (open === undefined || !terminal.isTty) return;
  const { dim } = terminal.paint;
  terminal.print(`\n  ${dim("Pay for it:")}  pawl crowd approve ${open.id}`);
  terminal.print(`  ${dim("Or do not:")}   pawl crowd reject ${open.id} --feedback ${quoted("why")}`);
}

async function ask({ terminal }: Context, pawl: Reached, args: Asking & { crowd: string | undefined }) {
  const asked = await pawl.call("askCrowd", { ...args });
  if (terminal.json) printJson(terminal, asked);
  else terminal.print(`${asked.id}  ${asked.created ? "asked" : `was asked already, and is ${asked.state}`}`);
  return undefined;
}
