import type { Command } from "commander";
import type { WorkerAnswer } from "../answers.ts";
import type { Act } from "../program.ts";
import { type Column, type Paint, printJson, printTable } from "../show/terminal.ts";

export function addWorkers(program: Command, act: Act): void {
  program
    .command("workers")
    .description("show the workers of all processes: what their loops and slots do, stuck steps, and which fell silent")
    .action(
      act(async (context) => {
        const { withPawl } = await import("../transport/with-pawl.ts");
        return await withPawl(context, {}, async (pawl) => {
          const workers = (await pawl.call("workers", {})) as WorkerAnswer[];
          const { terminal } = context;
          if (terminal.json) printJson(terminal, workers);
          else if (workers.length === 0 && terminal.isTty) terminal.note("Nobody works. Start one with: pawl work");
          else printTable(terminal, workers, await makeColumns());
          return undefined;
        });
      }),
    );
}

const slotStates = ["Claiming", "Processing", "ReportingSuccess", "ReportingFailure"] as const;

async function makeColumns(): Promise<Column<WorkerAnswer>[]> {
  const { ago } = await import("../show/instance.ts");
  return [
    { title: "worker", text: (one) => one.id, shown: (one, paint) => paint.bold(one.id) },
    { title: "state", text: stateOf, shown: (one, paint) => coloured(one, paint) },
    ...slotStates.map((state): Column<WorkerAnswer> => {
      const count = (one: WorkerAnswer) => String(one.slots[state] ?? 0);
      const shown = (one: WorkerAnswer, paint: Paint) => (count(one) === "0" ? paint.dim("0") : count(one));
      return { title: state, text: count, shown, alignRight: true };
    }),
    { title: "stuck", text: (one) => String(one.stuck), shown: stuckOf, alignRight: true },
    { title: "slots", text: (one) => String(one.concurrency), alignRight: true },
    { title: "heard of", text: (one) => one.heartbeatAt, shown: (one) => ago(one.heartbeatAt) },
    { title: "started", text: (one) => one.startedAt, shown: (one) => ago(one.startedAt) },
    { title: "pawl", text: (one) => one.pawl },
    { title: "lanes", text: (one) => String(one.lanes.length), alignRight: true },
    { title: "in hand", text: inHand },
  ];
}

function stateOf(one: WorkerAnswer): string {
  if (one.silent) return "silent";
  return one.stopping ? "stopping" : one.state;
}

function coloured(one: WorkerAnswer, paint: Paint): string {
  if (one.silent || one.state === "ErrorWait") return paint.red(stateOf(one));
  return one.stopping ? paint.yellow(stateOf(one)) : paint.green(stateOf(one));
}

function stuckOf({ stuck }: WorkerAnswer, paint: Paint): string {
  return stuck > 0 ? paint.red(String(stuck)) : paint.dim("0");
}

function inHand(one: WorkerAnswer): string {
  return Object.entries(one.tasks)
    .map(([lane, tasks]) => `${lane} ${tasks}`)
    .join(", ");
}
