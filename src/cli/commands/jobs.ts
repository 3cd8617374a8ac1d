import { type Command, InvalidArgumentError } from "commander";
import type { JobResponse } from "../../http/contract.ts";
import { instanceArgs, jsonValue } from "../arguments.ts";
import type { Act, Context } from "../program.ts";
import { ago, fromNow, when } from "../show/moments.ts";
import { type Column, type Paint, printJson, printPage, printTable, visible } from "../show/terminal.ts";
import type { Reached } from "../transport/reach.ts";
import { instanceNamed } from "./instance/instance-argument.ts";
import { reached } from "./reached.ts";
import { type Page, withCause, withPage } from "./usual-options.ts";

interface ListOptions extends Page {
  readonly status?: string;
}

interface EnqueueOptions {
  readonly payload?: unknown;
  readonly key?: string;
  readonly priority?: number;
  readonly after?: string;
  readonly at?: string;
  readonly actor?: string;
  readonly reason?: string;
}

export function addJobs(program: Command, act: Act): void {
  const jobs = program.command("jobs").description("list, show and enqueue background jobs");
  withPage(
    jobs
      .command("list", { isDefault: true })
      .description("list jobs, newest first")
      .argument("[job]", "only jobs of this name")
      .option("--status <status>", "only jobs with this status: pending, running, done or error"),
  ).action(act<ListOptions>((context, options, job) => reached(context, (pawl) => list(context, pawl, options, job))));
  jobs
    .command("show")
    .description("show the status and the history of a job")
    .argument("<job>")
    .argument("[key]")
    .option("--id <id>", "by its id instead of its key")
    .action(
      act<{ id?: string }>((context, { id }, job, key) =>
        reached(context, (pawl) => show(context, pawl, job!, instanceArgs(key, id))),
      ),
    );
  withCause(
    jobs
      .command("enqueue")
      .description("enqueue a job; the key of an open job returns that job")
      .argument("<job>")
      .option("--payload <json>", "its payload: JSON, @file, or - for stdin", jsonValue)
      .option("--key <key>", "unique while the job is open")
      .option("--priority <number>", "lower runs first", priorityOf)
      .option("--after <duration>", "delay before it runs, such as 10m")
      .option("--at <moment>", "time at which it runs, such as 2030-01-31T12:00:00Z"),
  ).action(
    act<EnqueueOptions>((context, options, job) =>
      reached(context, (pawl) => enqueue(context, pawl, job!, options), { create: true }),
    ),
  );
}

async function list({ terminal }: Context, pawl: Reached, options: ListOptions, job?: string): Promise<void> {
  const found = await pawl.call("jobs", { job, ...options });
  printPage(terminal, found, columns, { limit: options.limit, none: "No such job." });
}

async function show(
  { terminal }: Context,
  pawl: Reached,
  job: string,
  which: { key: string } | { id: string },
): Promise<void> {
  const instance = await instanceNamed(pawl, job, which);
  const history = await pawl.call("history", instance);
  const status = await pawl.call("job", { job, ...which });
  const one = await pawl.call("get", instance);
  if (terminal.json) {
    printJson(terminal, { ...status, payload: one.data, history });
    return;
  }
  const { printHistory, printInstance } = await import("../show/instance.ts");
  printTable(terminal, [status], columns);
  if (terminal.isTty) printInstance(terminal, one, { history });
  else printHistory(terminal, history);
}

async function enqueue({ terminal }: Context, pawl: Reached, job: string, options: EnqueueOptions): Promise<void> {
  const { id, created } = await pawl.call("enqueue", { job, ...options });
  const status = await pawl.call("job", { job, id });
  if (terminal.json) printJson(terminal, { ...status, created });
  else printTable(terminal, [status], columns);
  if (!created) terminal.note("An open job has this key; nothing was enqueued.");
}

const columns: readonly Column<JobResponse>[] = [
  { title: "job", text: (one) => one.job, shown: (one, paint) => paint.bold(one.job) },
  { title: "key", text: (one) => one.key ?? "", shown: (one, paint) => visible(one.key ?? "") || paint.dim("–") },
  { title: "status", text: (one) => one.status, shown: (one, paint) => coloured(one.status, paint) },
  { title: "attempt", text: (one) => String(one.attempt ?? ""), alignRight: true },
  { title: "enqueued", text: (one) => one.enqueuedAt, shown: (one) => ago(one.enqueuedAt) },
  { title: "runs", text: (one) => one.runsAt ?? "", shown: (one, paint) => when(one.runsAt, fromNow, paint) },
  { title: "ended", text: (one) => one.endedAt ?? "", shown: (one, paint) => when(one.endedAt, ago, paint) },
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
];

function coloured(status: JobResponse["status"], paint: Paint): string {
  if (status === "done") return paint.green(status);
  return status === "error" ? paint.red(status) : paint.cyan(status);
}

function priorityOf(text: string): number {
  if (!/^-?\d{1,7}$/.test(text)) throw new InvalidArgumentError("It must be a whole number; lower runs first.");
  return Number(text);
}
