import type { Command } from "commander";
import type { SubmissionResponse } from "../../../http/contract.ts";
import { jsonValue, quoted, several } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { crowdColumns, jobColumns, printJob, submissionColumns } from "../../show/crowd.ts";
import { printJson, printList, printPage, printTable } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";
import { type Page, withCause, withPage } from "../usual-options.ts";
import { addCrowdDecisions } from "./decide.ts";
import { jobId, jobMeant, jobNamed } from "./job-argument.ts";
import { addCrowdMarketplaces } from "./marketplaces.ts";

interface JobsPage extends Page {
  readonly state?: readonly string[];
}

interface Asking {
  readonly content: unknown;
  readonly key?: string;
  readonly actor?: string;
  readonly reason?: string;
}

export function addCrowd(program: Command, act: Act): void {
  const crowd = program.command("crowd").description("manage jobs on crowd marketplaces: publish, review and pay");
  crowd
    .command("list", { isDefault: true })
    .description("list crowds with counts of jobs and submissions by state")
    .action(act((context) => reached(context, (pawl) => list(context, pawl))));
  withPage(crowd.command("jobs").description("list jobs, newest first").argument("[crowd]", "only jobs of this crowd"))
    .option("--state <state>", "only those in this state, such as running; may be given several times", several)
    .action(
      act<JobsPage>((context, options, name) =>
        reached(context, (pawl) => jobs(context, pawl, { crowd: name, ...options })),
      ),
    );
  crowd
    .command("show")
    .description("show a job with its submissions")
    .argument("<job>", jobMeant)
    .action(act((context, _, job) => reached(context, (pawl) => show(context, pawl, job!))));
  withPage(
    crowd
      .command("submissions")
      .description("list submissions, newest first")
      .argument("[crowd]", "only submissions to this crowd"),
  )
    .option("--job <job>", `only submissions for this job: ${jobMeant}`)
    .option("--state <state>", "only those in this state, such as errored; may be given several times", several)
    .action(
      act<JobsPage & { job?: string }>((context, { job, ...page }, name) =>
        reached(context, async (pawl) => {
          const found =
            job === undefined
              ? await pawl.call("submissions", { crowd: name, ...page })
              : await pawl.call("submissionsOfJob", { id: await jobId(pawl, job), ...page });
          printPage(context.terminal, found, submissionColumns, { limit: page.limit, none: "No submissions." });
        }),
      ),
    );
  withCause(
    crowd
      .command("ask")
      .description("publish a job for a crowd; an existing key returns its job")
      .argument("<crowd>")
      .requiredOption("--content <json>", "what workers see: JSON, @file, or - for stdin", jsonValue)
      .option("--key <key>", "your own name for the job, unique within the crowd"),
  ).action(
    act<Asking>((context, options, name) =>
      reached(context, (pawl) => ask(context, pawl, { crowd: name, ...options }), { create: true }),
    ),
  );
  addCrowdDecisions(crowd, act);
  addCrowdMarketplaces(crowd, act);
}

async function list({ terminal }: Context, pawl: Reached): Promise<undefined> {
  const all = await pawl.call("crowds", {});
  const none = "The config lists no crowd. Declare one with crowd(), and its marketplace with it.";
  printList(terminal, all, crowdColumns, none);
}

/** Of one crowd, or of all of them as one list: ids rise with time, so the newest come first. */
async function jobs(
  { terminal }: Context,
  pawl: Reached,
  { crowd, ...page }: JobsPage & { crowd: string | undefined },
) {
  const crowds = crowd === undefined ? (await pawl.call("crowds", {})).map(({ name }) => name) : [crowd];
  const lists = await Promise.all(crowds.map((each) => pawl.call("crowdJobs", { crowd: each, ...page })));
  const found = lists.flat().sort((one, other) => (one.id < other.id ? 1 : -1));
  const none = "No jobs. Publish one: pawl crowd ask";
  return printPage(terminal, found.slice(0, page.limit), jobColumns, { limit: page.limit, none });
}

/** The most that are shown with a job; all of them: pawl crowd submissions --job. */
const maxShown = 100;

async function show({ terminal }: Context, pawl: Reached, which: string): Promise<undefined> {
  const job = await jobNamed(pawl, which);
  const found = await pawl.call("submissionsOfJob", { id: job.id, limit: maxShown });
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
  else terminal.note("  No submissions yet.");
  printWhatToDo(terminal, found);
}

/** Hints for a person: how to decide pending submissions. */
function printWhatToDo(terminal: Context["terminal"], found: readonly SubmissionResponse[]): void {
  const open = found.find(({ state }) => state === "pending_approval" || state === "errored");
  if (open === undefined || !terminal.isTty) return;
  const { dim } = terminal.paint;
  terminal.print(`\n  ${dim("Approve:")}  pawl crowd approve ${open.id}`);
  terminal.print(`  ${dim("Reject:")}   pawl crowd reject ${open.id} --feedback ${quoted("why")}`);
}

async function ask({ terminal }: Context, pawl: Reached, args: Asking & { crowd: string | undefined }) {
  const asked = await pawl.call("askCrowd", { ...args });
  if (terminal.json) printJson(terminal, asked);
  else terminal.print(`${asked.id}  ${asked.created ? "created" : `already exists; it is ${asked.state}`}`);
  return undefined;
}
