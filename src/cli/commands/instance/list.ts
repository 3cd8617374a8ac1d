import type { Command } from "commander";
import type { InstanceAnswer } from "../../../http/contract.ts";
import { several } from "../../arguments.ts";
import type { Act } from "../../program.ts";
import { shownState } from "../../show/instance.ts";
import { ago } from "../../show/moments.ts";
import { type Column, printPage, visible } from "../../show/terminal.ts";
import { reached } from "../reached.ts";
import { type Page, withPage } from "../usual-options.ts";

interface Options extends Page {
  readonly state?: string[];
  readonly parent?: string;
  readonly failure?: string;
}

export function addInstanceList(instance: Command, act: Act): void {
  withPage(
    instance
      .command("list")
      .description("list the instances of a lifecycle, newest first")
      .argument("<lifecycle>")
      .option("--state <state>", "only instances in this state; repeatable", several)
      .option("--parent <id>", "only children of this instance")
      .option("--failure <reason>", "only instances that failed for this reason"),
  ).action(
    act<Options>(async (context, { state, parent, failure, limit, after }, lifecycle) => {
      return await reached(context, async (pawl) => {
        const wanted = { lifecycle, state, parent, failure, limit, after };
        const found = await pawl.call("find", wanted);
        const none = `No ${lifecycle} ${state?.join(" or ") ?? ""}`.trim();
        return printPage(context.terminal, found, columns, { limit, none });
      });
    }),
  );
}

const columns: readonly Column<InstanceAnswer>[] = [
  { title: "key", text: (one) => one.key ?? "", shown: (one, paint) => visible(one.key ?? "") || paint.dim("–") },
  { title: "state", text: (one) => one.state, shown: (one, paint) => shownState(one, paint) },
  { title: "failure", text: (one) => one.failure?.reason ?? "", shown: (one) => visible(one.failure?.reason ?? "") },
  { title: "moves", text: (one) => String(one.version), alignRight: true },
  { title: "moved", text: (one) => one.movedAt, shown: (one) => ago(one.movedAt) },
  { title: "started", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
];
