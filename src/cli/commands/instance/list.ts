import type { Command } from "commander";
import type { InstanceAnswer } from "../../answers.ts";
import { several, wholeNumber } from "../../arguments.ts";
import type { Act } from "../../program.ts";
import { type Column, printJson, printTable, visible } from "../../show/terminal.ts";

interface Options {
  readonly state?: string[];
  readonly parent?: string;
  readonly failure?: string;
  readonly limit: number;
  readonly after?: string;
}

export function addInstanceList(instance: Command, act: Act): void {
  instance
    .command("list")
    .description("list the instances of a lifecycle, newest first")
    .argument("<lifecycle>")
    .option("--state <state>", "only those in this state; may be given several times", several)
    .option("--parent <id>", "only the children of this instance")
    .option("--failure <reason>", "only those that failed for this reason")
    .option("--limit <count>", "at most so many", wholeNumber, 50)
    .option("--after <id>", "go on after the last one of the page before")
    .action(
      act<Options>(async (context, { state, parent, failure, limit, after }, lifecycle) => {
        const { withPawl } = await import("../../transport/with-pawl.ts");
        const columns = await makeColumns();
        return await withPawl(context, {}, async (pawl) => {
          const wanted = { lifecycle, state, parent, failure, limit, after };
          const found = (await pawl.call("find", wanted)) as InstanceAnswer[];
          const { terminal } = context;
          if (terminal.json) printJson(terminal, found);
          else if (found.length === 0 && terminal.isTty)
            terminal.note(`No ${lifecycle} ${state?.join(" or ") ?? ""}`.trim());
          else printTable(terminal, found, columns);
          const last = found.at(-1);
          if (found.length === limit && terminal.isTty) terminal.note(`  More may follow: --after ${last?.id}`);
          return undefined;
        });
      }),
    );
}

async function makeColumns(): Promise<Column<InstanceAnswer>[]> {
  const { ago, shownState } = await import("../../show/instance.ts");
  return [
    { title: "key", text: (one) => one.key ?? "", shown: (one, paint) => visible(one.key ?? "") || paint.dim("–") },
    { title: "state", text: (one) => one.state, shown: (one, paint) => shownState(one, paint) },
    { title: "failure", text: (one) => one.failure?.reason ?? "", shown: (one) => visible(one.failure?.reason ?? "") },
    { title: "moves", text: (one) => String(one.version), alignRight: true },
    { title: "moved", text: (one) => one.movedAt, shown: (one) => ago(one.movedAt) },
    { title: "started", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
    { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
  ];
}
