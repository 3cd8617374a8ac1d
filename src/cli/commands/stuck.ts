import type { Command } from "commander";
import type { StuckResponse } from "../../http/contract.ts";
import type { Act } from "../program.ts";
import { type Column, printList, type Terminal, visible } from "../show/terminal.ts";
import { reached } from "./reached.ts";

export function addStuck(program: Command, act: Act): void {
  program
    .command("stuck")
    .description("list stuck instances by reason and place, with remedies; for one, use `pawl explain`")
    .action(
      act((context) =>
        reached(context, async (pawl) => {
          const groups = await pawl.call("stuck", {});
          const { terminal } = context;
          if (terminal.json || !terminal.isTty) printList(terminal, groups, columns);
          else if (groups.length === 0) terminal.note("Nothing is stuck.");
          else for (const group of groups) printStuck(terminal, group);
        }),
      ),
    );
}

/** For people: what is stuck and what to do, then the instances that have waited longest. */
export function printStuck(terminal: Terminal, { sentence, instances, count, more }: StuckResponse): void {
  terminal.print(visible(sentence));
  for (const { lifecycle, key, id } of instances.slice(0, maxShown)) {
    terminal.print(`  ${visible(lifecycle)} ${key === null ? id : visible(key)}`);
  }
  if (more || count > maxShown) terminal.print(terminal.paint.dim("  …"));
}

const maxShown = 3;

const columns: readonly Column<StuckResponse>[] = [
  { title: "reason", text: (one) => one.reason },
  { title: "lifecycle", text: (one) => one.lifecycle },
  { title: "place", text: (one) => one.lane ?? one.queue ?? one.state ?? "" },
  { title: "count", text: (one) => `${one.count}${one.more ? "+" : ""}`, alignRight: true },
  { title: "since", text: (one) => one.since },
  { title: "what to do", text: (one) => one.sentence },
];
