import type { Command } from "commander";
import type { InstanceAnswer, ScheduleAnswer } from "../answers.ts";
import type { Act, Context } from "../program.ts";
import { type Column, type Paint, printJson, printTable, visible } from "../show/terminal.ts";
import type { Reached } from "../transport/reach.ts";

export function addSchedules(program: Command, act: Act): void {
  const schedules = program
    .command("schedules")
    .description("list, pause, resume and run what is started at set times");
  schedules
    .command("list", { isDefault: true })
    .description("list the schedules: when they are due next, and what came of their last tick")
    .action(act((context) => reached(context, (pawl) => list(context, pawl))));
  schedules
    .command("pause")
    .description("run nothing of a schedule until it is resumed")
    .argument("<schedule>")
    .option("--actor <name>", "who pauses it")
    .option("--reason <text>", "why")
    .action(
      act<{ actor?: string; reason?: string }>((context, options, schedule) =>
        reached(context, async (pawl) => {
          await pawl.call("pauseSchedule", { schedule, ...options });
          await tell(context, pawl, schedule!);
        }),
      ),
    );
  schedules
    .command("resume")
    .description("let a schedule go on, with its next tick from now")
    .argument("<schedule>")
    .action(
      act((context, _, schedule) =>
        reached(context, async (pawl) => {
          await pawl.call("resumeSchedule", { schedule });
          await tell(context, pawl, schedule!);
        }),
      ),
    );
  schedules
    .command("run")
    .description("start now what a schedule starts, beside its ticks")
    .argument("<schedule>")
    .action(
      act((context, _, schedule) =>
        reached(context, async (pawl) => {
          const started = (await pawl.call("runScheduleNow", { schedule })) as InstanceAnswer;
          const { instanceLine } = await import("../show/instance.ts");
          if (context.terminal.json) printJson(context.terminal, started);
          else context.terminal.print(instanceLine(context.terminal, started));
        }),
      ),
    );
}

async function reached(context: Context, work: (pawl: Reached) => Promise<void>): Promise<undefined> {
  const { withPawl } = await import("../transport/with-pawl.ts");
  await withPawl(context, {}, work);
}

async function list({ terminal }: Context, pawl: Reached): Promise<void> {
  const all = (await pawl.call("schedules", {})) as ScheduleAnswer[];
  if (terminal.json) printJson(terminal, all);
  else if (all.length === 0 && terminal.isTty) terminal.note("No schedule is declared or kept.");
  else printTable(terminal, all, await makeColumns());
}

/** How a schedule stands after what was done to it. */
async function tell({ terminal }: Context, pawl: Reached, name: string): Promise<void> {
  const one = ((await pawl.call("schedules", {})) as ScheduleAnswer[]).filter((each) => each.name === name);
  if (terminal.json) printJson(terminal, one[0] ?? null);
  else printTable(terminal, one, await makeColumns());
}

async function makeColumns(): Promise<Column<ScheduleAnswer>[]> {
  const { ago, fromNow } = await import("../show/instance.ts");
  return [
    { title: "schedule", text: (one) => one.name, shown: (one, paint) => paint.bold(one.name) },
    { title: "status", text: (one) => one.status, shown: (one, paint) => coloured(one.status, paint) },
    { title: "due", text: (one) => one.timing },
    { title: "starts", text: (one) => one.starts },
    { title: "next", text: (one) => one.nextAt ?? "", shown: (one, paint) => whenOr(one.nextAt, fromNow, paint) },
    { title: "last", text: (one) => one.last?.at ?? "", shown: (one, paint) => whenOr(one.last?.at, ago, paint) },
    { title: "result", text: resultOf, shown: (one, paint) => shownResult(one, paint) },
  ];
}

function whenOr(moment: string | null | undefined, shown: (moment: string) => string, paint: Paint): string {
  return moment == null ? paint.dim("–") : shown(moment);
}

function resultOf({ last }: ScheduleAnswer): string {
  if (last === null) return "";
  return last.error === null ? last.result : `${last.result}: ${last.error}`;
}

function shownResult(one: ScheduleAnswer, paint: Paint): string {
  const text = visible(resultOf(one)) || "–";
  if (one.last === null) return paint.dim(text);
  return one.last.result === "failed" ? paint.red(text) : text;
}

function coloured(status: ScheduleAnswer["status"], paint: Paint): string {
  if (status === "active") return paint.green(status);
  return status === "new" ? paint.cyan(status) : paint.yellow(status);
}
