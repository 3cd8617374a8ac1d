import type { Command } from "commander";
import type { LaneResponse } from "../../http/contract.ts";
import { wholeNumber } from "../arguments.ts";
import type { Act, Context } from "../program.ts";
import { ago, roughly } from "../show/moments.ts";
import { type Column, type Paint, printJson, printList, printTable, visible } from "../show/terminal.ts";
import type { Reached } from "../transport/reach.ts";
import { reached } from "./reached.ts";
import { type Cause, withCause, withReason } from "./usual-options.ts";

export function addLanes(program: Command, act: Act): void {
  program
    .command("lanes")
    .description("show lanes with their backlog, limits, and pauses with reasons")
    .option("--internal", "include empty lanes of Pawl's internal lifecycles")
    .action(
      act<{ internal?: boolean }>((context, { internal }) =>
        reached(context, async (pawl) =>
          printList(
            context.terminal,
            await pawl.call("lanes", { internal }),
            columns,
            "No registered lifecycle has steps to run.",
          ),
        ),
      ),
    );
  withReason(
    program
      .command("pause")
      .description("pause a lane in all processes; running steps finish")
      .argument("<lane>", "lifecycle, lifecycle/state or lifecycle:after"),
  ).action(
    act<Cause>((context, cause, lane) =>
      reached(context, async (pawl) => {
        await pawl.call("pause", { lane, ...cause });
        await printChange(context, pawl, lane!, "Paused");
      }),
    ),
  );
  withCause(
    program
      .command("limit")
      .description("change limits and rates of a state in all processes; `default` is what the definition says")
      .argument("<lane>", "lifecycle/state, or the name of a job")
      .option("--limit <count>", "steps that may run at a time", limitOrDefault)
      .option("--each <count>", "steps of each key that may run at a time", limitOrDefault)
      .option("--rate <rate>", "steps that may begin in a time, such as 100/m", rateOrDefault)
      .option("--rate-each <rate>", "steps of each key that may begin in a time", rateOrDefault),
  ).action(
    act<Limits>((context, { each, ...change }, lane) =>
      reached(context, async (pawl) => {
        const { limit, rate, rateEach, ...cause } = change;
        const given = { limit, limitEach: each, rate, rateEach };
        const names = ["limit", "limitEach", "rate", "rateEach"] as const;
        const defaults = names.filter((name) => given[name] === null);
        const put = {
          limit: limit ?? undefined,
          limitEach: each ?? undefined,
          rate: rate ?? undefined,
          rateEach: rateEach ?? undefined,
        };
        await pawl.call("putLimit", { lane: lane!, ...put, defaults, ...cause });
        await printChange(context, pawl, lane!, "Changed");
      }),
    ),
  );
  withCause(
    program
      .command("resume")
      .description("resume a lane; a lifecycle resumes with all its lanes")
      .argument("<lane>", "lifecycle, lifecycle/state or lifecycle:after"),
  ).action(
    act<Cause>((context, cause, lane) =>
      reached(context, async (pawl) => {
        const wasPaused = await pawl.call("resume", { lane, ...cause });
        await printChange(context, pawl, lane!, wasPaused ? "Resumed" : "Not paused");
      }),
    ),
  );
}

interface Limits extends Cause {
  readonly limit?: number | null;
  readonly each?: number | null;
  readonly rate?: string | null;
  readonly rateEach?: string | null;
}

/** `default`: back to what the definition says. */
function limitOrDefault(text: string): number | null {
  return text === "default" ? null : wholeNumber(text);
}

function rateOrDefault(text: string): string | null {
  return text === "default" ? null : text;
}

/** Prints the change, and the lanes that it affects. */
async function printChange({ terminal }: Context, pawl: Reached, name: string, done: string): Promise<void> {
  const [lifecycle = "", part = ""] = name.replace(/@\d+/, "").split(/(?=[/:])/);
  const lanes = (await pawl.call("lanes", { internal: true })).filter(
    (one) => one.lifecycle === lifecycle && (part === "" || one.lane.endsWith(part)),
  );
  if (terminal.json) printJson(terminal, lanes);
  else {
    terminal.note(`${done}: ${visible(name)}.`);
    printTable(terminal, lanes, columns);
  }
}

const number = (text: string, paint: Paint) => (text === "0" ? paint.dim(text) : text);
const counted = (title: string, of: (one: LaneResponse) => number): Column<LaneResponse> => ({
  title,
  text: (one) => String(of(one)),
  shown: (one, paint) => number(String(of(one)), paint),
  alignRight: true,
});

const columns: readonly Column<LaneResponse>[] = [
  {
    title: "lane",
    text: (one) => one.lane,
    shown: (one, paint) => (one.closed === null ? paint.bold(one.lane) : paint.yellow(one.lane)),
  },
  counted("ready", (one) => one.ready),
  counted("scheduled", (one) => one.scheduled),
  counted("running", (one) => one.running),
  {
    title: "oldest",
    text: (one) => String(one.oldestMs ?? ""),
    shown: (one, paint) => (one.oldestMs === null ? paint.dim("–") : roughly(one.oldestMs)),
    alignRight: true,
  },
  { title: "limit", text: (one) => String(one.limit ?? ""), alignRight: true },
  { title: "rate", text: (one) => one.rate ?? "", alignRight: true },
  {
    title: "each",
    text: ({ each }) => [each?.limit, each?.rate].filter((one) => one != null).join(" "),
    alignRight: true,
  },
  {
    title: "closed",
    text: ({ closed }) => (closed === null ? "" : `${closed.since} ${closed.actor ?? ""} ${closed.reason}`),
    shown: ({ closed }, paint) =>
      closed === null
        ? ""
        : `${paint.yellow(ago(closed.since))} ${closed.actor === null ? "" : `by ${visible(closed.actor)}: `}${visible(closed.reason)}`,
  },
];
