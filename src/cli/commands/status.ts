import { setTimeout as delay } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import { nearest } from "../../base/nearest.ts";
import type { LifecycleResponse, OverviewResponse, StateResponse } from "../../http/contract.ts";
import { rateOf } from "../arguments.ts";
import type { Act, Context } from "../program.ts";
import { exitCodes } from "../show/failure.ts";
import { type Column, type Paint, printJson, printTable } from "../show/terminal.ts";
import type { Reached } from "../transport/reach.ts";
import { reached } from "./reached.ts";
import { printStuck } from "./stuck.ts";

type Need = OverviewResponse["needs"][number];

interface Row extends StateResponse {
  readonly lifecycle: string;
  readonly isFirst: boolean;
}

interface Options {
  readonly watch?: boolean | number;
  readonly failOn?: readonly string[];
}

const kinds: readonly Need["what"][] = [
  "stuck",
  "breakers",
  "dead_letters",
  "workers",
  "lanes",
  "schedules",
  "outbox",
  "alerts",
  "waiting",
];

const examples = `
Examples:
  pawl status                                    once
  pawl status --watch                            every 2 seconds, until Ctrl-C
  pawl status --fail-on stuck,dead_letters       for a script: exit code 1 if one of them needs attention
`;

export function addStatus(program: Command, act: Act): void {
  program
    .command("status")
    .description("show instance counts by state, and what is stuck")
    .option("--watch [seconds]", "show it again every 2 seconds, or as often as you say", seconds)
    .option("--fail-on <kinds>", `exit with 1 if one of these needs attention: ${kinds.join(", ")}`, kindsIn)
    .addHelpText("after", examples)
    .action(
      act<Options>((context, { watch, failOn = [] }) =>
        reached(context, async (pawl) => {
          for (;;) {
            if (watch !== undefined && context.terminal.isTty) context.terminal.print(clear);
            await show(context, pawl);
            const failing = failOn.length === 0 ? [] : await needsOf(pawl, failOn);
            for (const { text } of failing) context.terminal.note(context.terminal.paintNotes.red(text));
            if (failing.length > 0) return exitCodes.failed;
            if (watch === undefined) return exitCodes.ok;
            await delay((watch === true ? 2 : Number(watch)) * 1_000);
          }
        }),
      ),
    );
}

/** Moves to the top of the terminal and clears it. */
const clear = "\u001b[H\u001b[2J";

async function show({ terminal }: Context, pawl: Reached): Promise<void> {
  const lifecycles = await pawl.call("lifecycles", {});
  const stuck = await pawl.call("stuck", {});
  if (terminal.json) return printJson(terminal, { pid: pawl.pid ?? null, lifecycles, stuck });
  const rows = lifecycles.flatMap((one) => rowsOf(one, terminal.isTty));
  printTable(terminal, rows, columns);
  if (!terminal.isTty) return;
  if (stuck.length > 0) terminal.print("");
  for (const group of stuck) printStuck(terminal, group);
  const isHere = pawl.pid !== undefined;
  const how = isHere ? `Running, pid ${pawl.pid}.` : "Pawl is not running here; the database was read directly.";
  terminal.note(terminal.paintNotes.dim(`\n  ${how}`));
}

async function needsOf(pawl: Reached, failOn: readonly string[]): Promise<readonly Need[]> {
  const { needs } = await pawl.call("overview", {});
  return needs.filter(({ what }) => failOn.includes(what));
}

function seconds(text: string): number {
  return rateOf(text);
}

/** Also with hyphens, as options are written. */
function kindsIn(text: string, before: readonly string[] = []): string[] {
  const given = text.split(",").map((kind) => kind.trim().replaceAll("-", "_"));
  const stray = given.find((kind) => !kinds.includes(kind as Need["what"]));
  if (stray === undefined) return [...before, ...given];
  const close = nearest(stray, kinds);
  throw new InvalidArgumentError(close === undefined ? `Known are ${kinds.join(", ")}.` : `Did you mean ${close}?`);
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
