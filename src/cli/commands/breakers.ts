import type { Command } from "commander";
import type { BreakerChangeResponse, BreakerResponse } from "../../http/contract.ts";
import type { Act } from "../program.ts";
import { ago, fromNow, when } from "../show/moments.ts";
import { type Column, type Paint, printList, printOne, visible } from "../show/terminal.ts";
import { reached } from "./reached.ts";
import { type Cause, withCause, withReason } from "./usual-options.ts";

export function addBreakers(program: Command, act: Act): void {
  const breakers = program.command("breakers").description("show circuit breakers; force them open or closed");
  breakers
    .command("list", { isDefault: true })
    .description("list breakers with their state, its reason, and their call counts")
    .action(
      act((context) =>
        reached(context, async (pawl) =>
          printList(
            context.terminal,
            await pawl.call("breakers", {}),
            columns,
            "No state has a `uses`, and no step has called under one.",
          ),
        ),
      ),
    );
  for (const [name, to, said] of [
    ["open", "open", "force a breaker open: no step that uses it starts, in any process"],
    ["close", "closed", "force a breaker closed, whatever the outcome of its calls"],
  ] as const) {
    withReason(breakers.command(name).description(said).argument("<breaker>")).action(
      act<Cause>((context, cause, breaker) =>
        reached(context, async (pawl) =>
          printOne(context.terminal, await pawl.call("forceBreaker", { breaker, to, ...cause }), columns),
        ),
      ),
    );
  }
  withCause(
    breakers
      .command("release")
      .description("end a forced state; a breaker that was forced open probes before it closes")
      .argument("<breaker>"),
  ).action(
    act<Cause>((context, cause, breaker) =>
      reached(context, async (pawl) =>
        printOne(context.terminal, await pawl.call("releaseBreaker", { breaker, ...cause }), columns),
      ),
    ),
  );
  breakers
    .command("history")
    .description("show when and why a breaker opened and closed, newest first")
    .argument("<breaker>")
    .action(
      act((context, _, breaker) =>
        reached(context, async (pawl) =>
          printList(context.terminal, await pawl.call("breakerHistory", { breaker }), historyColumns),
        ),
      ),
    );
}

const columns: readonly Column<BreakerResponse>[] = [
  { title: "breaker", text: (one) => one.name, shown: (one, paint) => paint.bold(visible(one.name)) },
  { title: "state", text: stateOf, shown: (one, paint) => coloured(stateOf(one), paint) },
  { title: "since", text: (one) => one.since ?? "", shown: (one, paint) => when(one.since, ago, paint) },
  { title: "until", text: (one) => one.openUntil ?? "", shown: (one, paint) => when(one.openUntil, fromNow, paint) },
  { title: "calls", text: ({ calls }) => String(calls.good + calls.failed), alignRight: true },
  { title: "failed", text: ({ calls }) => String(calls.failed), alignRight: true },
  { title: "used by", text: (one) => one.usedBy.join(" ") },
  { title: "why", text: why, shown: (one) => visible(why(one)) },
];

const historyColumns: readonly Column<BreakerChangeResponse>[] = [
  { title: "change", text: (one) => String(one.number), alignRight: true },
  { title: "when", text: (one) => one.at, shown: (one) => ago(one.at) },
  { title: "from", text: (one) => one.from },
  { title: "to", text: (one) => one.to, shown: (one, paint) => coloured(one.to, paint) },
  { title: "cause", text: (one) => one.cause },
  { title: "why", text: why, shown: (one) => visible(why(one)) },
];

function stateOf({ state, forced, probes }: BreakerResponse): string {
  if (forced !== null) return `forced ${forced}`;
  return state === "half_open" ? `half-open ${probes.good}/${probes.needed}` : state;
}

function why({ reason, actor }: Pick<BreakerResponse, "reason" | "actor">): string {
  return `${actor === null ? "" : `${actor}: `}${reason ?? ""}`;
}

function coloured(state: string, paint: Paint): string {
  if (state === "closed") return paint.green(state);
  return state.includes("open") && !state.includes("half") ? paint.red(state) : paint.yellow(state);
}
