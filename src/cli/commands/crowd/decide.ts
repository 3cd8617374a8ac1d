import type { Command } from "commander";
import type { Act, Context } from "../../program.ts";
import { jobColumns, submissionColumns } from "../../show/crowd.ts";
import { printJson, printOne } from "../../show/terminal.ts";
import { reached } from "../reached.ts";
import { type Cause, withCause } from "../usual-options.ts";
import { jobId, jobMeant } from "./job-argument.ts";

interface Paying {
  readonly amount: string;
  readonly reason: string;
  readonly key?: string;
  readonly actor?: string;
}

/** Decisions about submissions and jobs. A worker process sends them to the marketplace, with retries. */
export function addCrowdDecisions(crowd: Command, act: Act): void {
  addSubmission(crowd, "approve", "approve a submission that awaits a decision, or whose check failed")
    .option("--feedback <text>", "message to the worker")
    .action(act<Cause>((context, options, id) => decide(context, "approveSubmission", { id, ...options })));
  addSubmission(crowd, "reject", "reject a submission: its worker is not paid and receives the feedback")
    .requiredOption("--feedback <text>", "message to the worker")
    .action(act<Cause>((context, options, id) => decide(context, "rejectSubmission", { id, ...options })));
  addSubmission(crowd, "retry", "run the crowd's check again on a submission that it could not decide").action(
    act<Cause>((context, options, id) => decide(context, "retrySubmission", { id, ...options })),
  );
  for (const [name, verb, does] of [
    ["sync", "syncCrowdJob", "sync a job with its marketplace now"],
    ["close", "closeCrowdJob", "close a job to new workers; work in progress is still decided and paid"],
    ["discard", "discardCrowdJob", "end a job permanently, published or not; nothing more is decided"],
  ] as const) {
    withCause(crowd.command(name).description(does).argument("<job>", jobMeant)).action(
      act<Cause>((context, options, job) => move(context, verb, job!, options)),
    );
  }
  crowd
    .command("bonus")
    .description("pay the worker of a submission a bonus, once per key")
    .argument("<submission>", "its id")
    .requiredOption("--amount <amount>", "amount, such as 0.50")
    .requiredOption("--reason <text>", "message to the worker")
    .option("--key <key>", "a different key for each further bonus of a submission")
    .option("--actor <name>", "name to record as the actor")
    .action(act<Paying>((context, options, id) => pay(context, { id, ...options })));
}

function addSubmission(crowd: Command, name: string, does: string): Command {
  return withCause(crowd.command(name).description(does).argument("<submission>", "its id"));
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
  name: "syncCrowdJob" | "closeCrowdJob" | "discardCrowdJob",
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
    else if (paid.created) terminal.print(`${paid.id}  bonus of ${args.amount} queued`);
    else terminal.print(`${paid.id}  bonus already paid; use a different --key for another one`);
    return undefined;
  });
}
