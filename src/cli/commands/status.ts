import type { Command } from "commander";
import type { LifecycleResponse, StateResponse } from "../../http/contract.ts";
import type { Act } from "../program.ts";
import { type Column, type Paint, printJson, printTable } from "../show/terminal.ts";
import { reached } from "./reached.ts";
import { printStuck } from "./stuck.ts";

interface Row extends StateResponse {
  readonly lifecycle: string;
  readonly isFirst: boolean;
}

export function addStatus(program: Command, act: Act): void {
  program
    .command("status")
    .description("show instance counts by state, and what is stuck")
    .action(
      act((context) =>
        reached(context, async (pawl) => {
          const lifecycles = await pawl.call("lifecycles", {});
          const stuck = await pawl.call("stuck", {});
          const { terminal } = context;
          if (terminal.json) printJson(terminal, { pid: pawl.pid ?? null, lifecycles, stuck });
          else
            printTable(
              terminal,
              lifecycles.flatMap((one) => rowsOf(one, terminal.isTty)),
              columns,
            );
          if (terminal.isTty && !terminal.json) {
            if (stuck.length > 0) terminal.print("");
            for (const group of stuck) printStuck(terminal, group);
            const how =
              pawl.pid === undefined
                ? "Pawl is not running here; the database was read directly."
                : `Running, pid ${pawl.pid}.`;
            terminal.note(terminal.paintNotes.dim(`\n  ${how}`));
          }
          return undefined;
        }),
      ),
    );
}

/** Programs get every state; for people, the two built-in ones are left out while they are empty. */
function rowsOf(lifecycle: LifecycleResponse, forPerson: boolean): Row[] {
  const spared = ["failed", "discarded"];
  return lifecycle.states
    .filter((state) => !forPerson || state.instances > 0 || !spared.includes(state.name))
    .map((state, at) => ({ ...state, lifecycle: lifecycle.name, isFirst: at === 0 }));
}

const columns: readonly Column<Row>[] = [
  {
    title: "lifecycle",
    text: (row) => row.lifecycle,
    shown: (row, paint) => (row.isFirst ? paint.bold(row.lifecycle) : ""),
  },
  { title: "state", text: (row) => row.name, shown: (row, paint) => coloured(row, paint) },
  {
    title: "instances",
    text: (row) => String(row.instances),
    shown: (row, paint) => (row.instances === 0 ? paint.dim("0") : String(row.instances)),
    alignRight: true,
  },
];

function coloured(state: StateResponse, paint: Paint): string {
  if (state.instances === 0) return paint.dim(state.name);
  if (state.final === "success") return paint.green(state.name);
  return state.final === "failure" || state.name === "failed" ? paint.red(state.name) : paint.cyan(state.name);
}
