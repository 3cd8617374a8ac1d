import type { Command } from "commander";
import type { WorkerResponse } from "../../http/contract.ts";
import type { Act } from "../program.ts";
import { ago } from "../show/moments.ts";
import { type Column, type Paint, printList } from "../show/terminal.ts";
import { reached } from "./reached.ts";

export function addWorkers(program: Command, act: Act): void {
  program
    .command("workers")
    .description("show the workers of all processes with their states, slots, and stuck steps")
    .action(
      act((context) =>
        reached(context, async (pawl) =>
          printList(context.terminal, await pawl.call("workers", {}), columns, "No workers. Start one: pawl work"),
        ),
      ),
    );
}

const slotStates = ["Claiming", "Processing", "ReportingSuccess", "ReportingFailure"] as const;

const columns: readonly Column<WorkerResponse>[] = [
  { title: "worker", text: (one) => one.id, shown: (one, paint) => paint.bold(one.id) },
  { title: "state", text: stateOf, shown: (one, paint) => coloured(one, paint) },
  ...slotStates.map((state): Column<WorkerResponse> => {
    const count = (one: WorkerResponse) => String(one.slots[state] ?? 0);
    const shown = (one: WorkerResponse, paint: Paint) => (count(one) === "0" ? paint.dim("0") : count(one));
    return { title: state, text: count, shown, alignRight: true };
  }),
  { title: "stuck", text: (one) => String(one.stuck), shown: stuckOf, alignRight: true },
  { title: "slots", text: (one) => String(one.concurrency), alignRight: true },
  { title: "heartbeat", text: (one) => one.heartbeatAt, shown: (one) => ago(one.heartbeatAt) },
  { title: "started", text: (one) => one.startedAt, shown: (one) => ago(one.startedAt) },
  { title: "pawl", text: (one) => one.pawl },
  { title: "lanes", text: (one) => String(one.lanes.length), alignRight: true },
  { title: "running", text: runningTasks },
];

function stateOf(one: WorkerResponse): string {
  if (one.silent) return "silent";
  return one.stopping ? "stopping" : one.state;
}

function coloured(one: WorkerResponse, paint: Paint): string {
  if (one.silent || one.state === "ErrorWait") return paint.red(stateOf(one));
  return one.stopping ? paint.yellow(stateOf(one)) : paint.green(stateOf(one));
}

function stuckOf({ stuck }: WorkerResponse, paint: Paint): string {
  return stuck > 0 ? paint.red(String(stuck)) : paint.dim("0");
}

function runningTasks(one: WorkerResponse): string {
  return Object.entries(one.tasks)
    .map(([lane, tasks]) => `${lane} ${tasks}`)
    .join(", ");
}
