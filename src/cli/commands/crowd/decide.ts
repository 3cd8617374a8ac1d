import type { Command } from "commander";
import type { Act, Context } from "../../program.ts";
import { jobColumns, submissionColumns } from "../../show/crowd.ts";
import { printJson, printOne } from "../../show/terminal.ts";
import { reached } from "../reached.ts";
import { jobId, jobMeant } from "./job-argument.ts";

interface Cause {
  readonly actor?: string;
  readonly reason?: string;
}

interface Paying {
  readonly amount: string;
  readonly reason: string;
  readonly key?: string;
  readonly actor?: string;
}

/** What is decided about submissions and jobs. The marketplace is told by whatever process works, and tried again if need be. */
export function addCrowdDecisions(crowd: Command, act: Act): void {
  addSubmission(crowd, "approve", "approve a submission that waits for a decision, or that its check could not decide")
    .option("--feedback <text>", "what the worker is told")
    .action(act<Cause>((context, options, id) => decide(context, "approveSubmission", { id, ...options })));
  addSubmission(crowd, "reject", "reject a submission: its worker is not paid, and told why")
    .requiredOption("--feedback <text>", "what the worker is told")
    .action(act<Cause>((context, options, id) => decide(context, "rejectSubmission", { id, ...options })));
  addSubmission(crowd, "retry", "let the crowd's own check look once more at what it could not decide").action(
    act<Cause>((context, options, id) => decide(context, "retrySubmission", { id, ...options })),
  );
  for (const [name, verb, does] of [
    ["look", "lookAtCrowdJob", "let a job look at the marketplace now"],
    ["close", "closeCrowdJob", "take a job back: nobody new may begin, and what was begun is decided and paid"],
    ["discard", "discardCrowdJob", "end a job for good, also one that was never published; nothing more is decided"],
  ] as const) {
    addCause(crowd.command(name).description(does).argument("<job>", jobMeant)).action(
      act<Cause>((context, options, job) => move(context, verb, job!, options)),
    );
  }
  crowd
    .command("bonus")
    .description("pay the worker of a submission more: once, unless it is given another key")
    .argument("<submission>", "its id")
    .requiredOption("--amount <amount>", "how much, such as 0.50")
    .requiredOption("--reason <text>", "what the worker is told")
    .option("--key <key>", "another one for another bonus for the same submission")
    .option("--actor <name>", "who pays")
    .action(act<Paying>((context, options, id) => pay(context, { id, ...options })));
}

function addSubmission(crowd: Command, name: string, does: string): Command {
  return addCause(crowd.command(name).description(does).argument("<submission>", "its id"));
}

function addCause(command: Command): Command {
  return command.option("--actor <name>", "who decides it").option("--reason <text>", "why, for the journal");
}

function decide(
  context: Context,
  name: "approveSubmission" | "rejectSubmission" | "retrySubmission",
  args: Readonly<Record<string, unknown>>,
): Promise<undefined> {
  return reached(context, async (pawl) => printOne(context.terminal, await pawl.call(name, args), submissionColumns));
}

function move(
  context: Context,
  name: "lookAtCrowdJob" | "closeCrowdJob" | "discardCrowdJob",
  job: string,
  cause: Cause,
): Promise<undefined> {
  return reached(context, async (pawl) => {
    const id = await jobId(pawl, job);
    printOne(context.terminal, await pawl.call(name, { id, ...cause }), jobColumns);
    return undefined;
  });
}

function pay(context: Context, args: Paying & { readonly id: string | undefined }): Promise<undefined> {
  const { terminal } = context;
  return reached(context, async (pawl) => {
    const paid = await pawl.call("payBonus", { ...args });
    if (terminal.json) printJson(terminal, paid);
    else if (paid.created) terminal.print(`${paid.id}  ${args.amount} is on its way`);
    else terminal.print(`${paid.id}  was given already; another bonus needs another --key`);
    return undefined;
  });
}
