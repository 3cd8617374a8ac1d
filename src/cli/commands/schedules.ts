import type { Command } from "commander";
import type { ScheduleResponse } from "../../http/contract.ts";
import type { Act, Context } from "../program.ts";
import { ago, fromNow, when } from "../show/moments.ts";
import { type Column, type Paint, printJson, printList, printTable, visible } from "../show/terminal.ts";
import type { Reached } from "../transport/reach.ts";
import { reached } from "./reached.ts";
import { type Cause, withCause } from "./usual-options.ts";

export function addSchedules(program: Command, act: Act): void {
  const schedules = program.command("schedules").description("list, pause, resume and run schedules");
  schedules
    .command("list", { isDefault: true })
    .description("list schedules with their next run and the result of the last one")
    .action(
      act((context) =>
        reached(context, async (pawl) =>
          printList(context.terminal, await pawl.call("schedules", {}), columns, "No schedules."),
        ),
      ),
    );
  withCause(schedules.command("pause").description("pause a schedule").argument("<schedule>")).action(
    act<Cause>((context, options, schedule) =>
      reached(context, async (pawl) => {
        await pawl.call("pauseSchedule", { schedule, ...options });
        await printSchedule(context, pawl, schedule!);
      }),
    ),
  );
  schedules
    .command("resume")
    .description("resume a schedule; missed runs are skipped")
    .argument("<schedule>")
    .action(
      act((context, _, schedule) =>
        reached(context, async (pawl) => {
          await pawl.call("resumeSchedule", { schedule });
          await printSchedule(context, pawl, schedule!);
        }),
      ),
    );
  schedules
    .command("run")
    .description("run a schedule now, in addition to its planned runs")
    .argument("<schedule>")
    .action(
      act((context, _, schedule) =>
        reached(context, async (pawl) => {
          const started = await pawl.call("runScheduleNow", { schedule });
          const { instanceLine } = await import("../show/instance.ts");
          if (context.terminal.json) printJson(context.terminal, started);
          else context.terminal.print(instanceLine(context.terminal, started));
        }),
      ),
    );
}

/** Prints a schedule after a change. */
async function printSchedule({ terminal }: Context, pawl: Reached, name: string): Promise<void> {
  const one = (await pawl.call("schedules", {})).filter((each) => each.name === name);
  if (terminal.json) printJson(terminal, one[0] ?? null);
  else printTable(terminal, one, columns);
}

const columns: readonly Column<ScheduleResponse>[] = [
  { title: "schedule", text: (one) => one.name, shown: (one, paint) => paint.bold(one.name) },
  { title: "status", text: (one) => one.status, shown: (one, paint) => coloured(one.status, paint) },
  { title: "due", text: (one) => one.timing },
  { title: "starts", text: (one) => one.starts },
  { title: "next", text: (one) => one.nextAt ?? "", shown: (one, paint) => when(one.nextAt, fromNow, paint) },
  { title: "last", text: (one) => one.last?.at ?? "", shown: (one, paint) => when(one.last?.at, ago, paint) },
  { title: "result", text: resultOf, shown: (one, paint) => shownResult(one, paint) },
];

function resultOf({ last }: ScheduleResponse): string {
  if (last === null) return "";
  return last.error === null ? last.result : `${last.result}: ${last.error}`;
}

function shownResult(one: ScheduleResponse, paint: Paint): string {
  const text = visible(resultOf(one)) || "–";
  if (one.last === null) return paint.dim(text);
  return one.last.result === "failed" ? paint.red(text) : text;
}

function coloured(status: ScheduleResponse["status"], paint: Paint): string {
  if (status === "active") return paint.green(status);
  return status === "new" ? paint.cyan(status) : paint.yellow(status);
}
