import type { Command } from "commander";
import type { InstanceResponse } from "../../../http/contract.ts";
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
  readonly key?: string;
  readonly olderThan?: string;
  readonly idleFor?: string;
}

export function addInstanceList(instance: Command, act: Act): void {
  withPage(
    instance
      .command("list")
      .description("list the instances of a lifecycle, newest first, or by key if --key is given")
      .argument("<lifecycle>")
      .option("--state <state>", "only instances in this state; repeatable", several)
      .option("--parent <id>", "only children of this instance")
      .option("--failure <reason>", "only instances that failed for this reason")
      .option("--key <text>", "only instances whose key starts with this text")
      .option("--older-than <duration>", "only instances that started at least this long ago, such as 90s, 10m, 2h, 7d")
      .option("--idle-for <duration>", "only instances that have not moved for at least this long"),
  ).action(
    act<Options>(async (context, options, lifecycle) => {
      const { state, key, limit } = options;
      return await reached(context, async (pawl) => {
        const found = await pawl.call("listInstances", { lifecycle, ...options });
        const none =
          `No ${lifecycle} ${state?.join(" or ") ?? ""}${key === undefined ? "" : ` with the key ${key}…`}`.trim();
        return printPage(context.terminal, found, columns, { limit, none });
      });
    }),
  );
}

const columns: readonly Column<InstanceResponse>[] = [
  { title: "key", text: (one) => one.key ?? "", shown: (one, paint) => visible(one.key ?? "") || paint.dim("–") },
  { title: "state", text: (one) => one.state, shown: (one, paint) => shownState(one, paint) },
  { title: "failure", text: (one) => one.failure?.reason ?? "", shown: (one) => visible(one.failure?.reason ?? "") },
  { title: "moves", text: (one) => String(one.version), alignRight: true },
  { title: "moved", text: (one) => one.movedAt, shown: (one) => ago(one.movedAt) },
  { title: "started", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
];
