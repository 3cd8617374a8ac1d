import type { Command } from "commander";
import type { BreakerAnswer, FlipAnswer } from "../answers.ts";
import type { Act, Context } from "../program.ts";
import { type Column, type Paint, printJson, printTable, visible } from "../show/terminal.ts";
import type { Reached } from "../transport/reach.ts";

interface Cause {
  readonly actor?: string;
  readonly reason?: string;
}

export function addBreakers(program: Command, act: Act): void {
  const breakers = program
    .command("breakers")
    .description("show the breakers of outside dependencies; hold them open or closed");
  breakers
    .command("list", { isDefault: true })
    .description("list the breakers: how they stand and why, and what their calls came to")
    .action(act((context) => reached(context, (pawl) => list(context, pawl))));
  for (const [name, to, said] of [
    ["open", "open", "hold a breaker open: nothing that uses it begins, in any process"],
    ["close", "closed", "hold a breaker closed, whatever its calls come to"],
  ] as const) {
    breakers
      .command(name)
      .description(said)
      .argument("<breaker>")
      .requiredOption("--reason <text>", "why, for whoever looks at it later")
      .option("--actor <name>", "who says so")
      .action(act<Cause>((context, cause, breaker) => say(context, "forceBreaker", { breaker, to, ...cause })));
  }
  breakers
    .command("release")
    .description("let a breaker that is held find its own way again; an open one by probes")
    .argument("<breaker>")
    .option("--reason <text>", "why")
    .option("--actor <name>", "who says so")
    .action(act<Cause>((context, cause, breaker) => say(context, "releaseBreaker", { breaker, ...cause })));
  breakers
    .command("history")
    .description("show when and why a breaker opened and closed, newest first")
    .argument("<breaker>")
    .action(act((context, _, breaker) => reached(context, (pawl) => history(context, pawl, breaker!))));
}

async function reached(context: Context, work: (pawl: Reached) => Promise<void>): Promise<undefined> {
  const { withPawl } = await import("../transport/with-pawl.ts");
  await withPawl(context, {}, work);
}

async function list({ terminal }: Context, pawl: Reached): Promise<void> {
  const all = (await pawl.call("breakers", {})) as BreakerAnswer[];
  if (terminal.json) printJson(terminal, all);
  else if (all.length === 0 && terminal.isTty)
    terminal.note("No state has a `uses`, and no step has called under one.");
  else printTable(terminal, all, await makeColumns());
}

/** An operator's word, and how the breaker stands after it. */
function say(context: Context, verb: string, args: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { terminal } = context;
  return reached(context, async (pawl) => {
    const one = (await pawl.call(verb, args)) as BreakerAnswer;
    if (terminal.json) printJson(terminal, one);
    else printTable(terminal, [one], await makeColumns());
  });
}

async function history({ terminal }: Context, pawl: Reached, breaker: string): Promise<void> {
  const flips = (await pawl.call("breakerFlips", { breaker })) as FlipAnswer[];
  if (terminal.json) return printJson(terminal, flips);
  const { ago } = await import("../show/instance.ts");
  const columns: Column<FlipAnswer>[] = [
    { title: "flip", text: (one) => String(one.flip), alignRight: true },
    { title: "when", text: (one) => one.at, shown: (one) => ago(one.at) },
    { title: "from", text: (one) => one.from },
    { title: "to", text: (one) => one.to, shown: (one, paint) => coloured(one.to, paint) },
    { title: "cause", text: (one) => one.cause },
    { title: "why", text: why, shown: (one) => visible(why(one)) },
  ];
  printTable(terminal, flips, columns);
}

async function makeColumns(): Promise<Column<BreakerAnswer>[]> {
  const { ago, fromNow } = await import("../show/instance.ts");
  const when = (moment: string | null, shown: (moment: string) => string, paint: Paint) =>
    moment === null ? paint.dim("–") : shown(moment);
  return [
    { title: "breaker", text: (one) => one.name, shown: (one, paint) => paint.bold(visible(one.name)) },
    { title: "state", text: stateOf, shown: (one, paint) => coloured(stateOf(one), paint) },
    { title: "since", text: (one) => one.since ?? "", shown: (one, paint) => when(one.since, ago, paint) },
    { title: "until", text: (one) => one.openUntil ?? "", shown: (one, paint) => when(one.openUntil, fromNow, paint) },
    { title: "calls", text: ({ calls }) => String(calls.good + calls.failed), alignRight: true },
    { title: "failed", text: ({ calls }) => String(calls.failed), alignRight: true },
    { title: "used by", text: (one) => one.usedBy.join(" ") },
    { title: "why", text: why, shown: (one) => visible(why(one)) },
  ];
}

function stateOf({ state, forced, probes }: BreakerAnswer): string {
  if (forced !== null) return `held ${forced}`;
  return state === "half_open" ? `half-open ${probes.good}/${probes.needed}` : state;
}

function why({ reason, actor }: Pick<BreakerAnswer, "reason" | "actor">): string {
  return `${actor === null ? "" : `${actor}: `}${reason ?? ""}`;
}

function coloured(state: string, paint: Paint): string {
  if (state === "closed") return paint.green(state);
  return state.includes("open") && !state.includes("half") ? paint.red(state) : paint.yellow(state);
}
