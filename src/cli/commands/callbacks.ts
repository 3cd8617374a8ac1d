import type { Command } from "commander";
import type { CallbackResponse } from "../../http/contract.ts";
import { instanceArgs } from "../arguments.ts";
import type { Act, Context } from "../program.ts";
import { ago } from "../show/moments.ts";
import { type Column, type Paint, printJson, printPage, type Terminal, visible } from "../show/terminal.ts";
import type { Reached } from "../transport/reach.ts";
import { instanceNamed } from "./instance/instance-argument.ts";
import { reached } from "./reached.ts";
import { type Cause, type Page, withCause, withPage } from "./usual-options.ts";

interface Wanted extends Page {
  readonly id?: string;
  readonly status?: string;
  readonly late?: boolean;
}

export function addCallbacks(program: Command, act: Act): void {
  const callbacks = program.command("callbacks").description("list and show callbacks, and accept late ones");
  withPage(
    callbacks
      .command("list", { isDefault: true })
      .description("list callbacks, newest first; of a lifecycle or of one instance")
      .argument("[lifecycle]")
      .argument("[key]")
      .option("--id <id>", "the instance's id, instead of its key")
      .option("--status <status>", "waiting, applied, kept, rejected, refused or accepted")
      .option("--late", "only callbacks that arrived after their deadline"),
  ).action(
    act<Wanted>((context, options, lifecycle, key) =>
      reached(context, (pawl) => list(context, pawl, { lifecycle, key, ...options })),
    ),
  );
  callbacks
    .command("show")
    .description("show a callback with its payload")
    .argument("<id>")
    .action(
      act((context, _, id) =>
        reached(context, async (pawl) => show(context.terminal, await pawl.call("callback", { id }))),
      ),
    );
  withCause(
    callbacks
      .command("accept")
      .description("accept a late callback: its instance proceeds as if it had arrived in time")
      .argument("<id>"),
  ).action(act<Cause>((context, options, id) => reached(context, (pawl) => accept(context, pawl, { id, ...options }))));
}

async function list(
  { terminal }: Context,
  pawl: Reached,
  { lifecycle, key, id, ...filter }: Wanted & { lifecycle: string | undefined; key: string | undefined },
): Promise<undefined> {
  const found =
    key === undefined && id === undefined
      ? await pawl.call("callbacks", { lifecycle, ...filter })
      : await pawl.call("callbacksOfInstance", {
          ...(await instanceNamed(pawl, lifecycle, instanceArgs(key, id))),
          ...filter,
        });
  printPage(terminal, found, columns, { limit: filter.limit, none: "No callbacks." });
}

async function accept({ terminal }: Context, pawl: Reached, args: Record<string, unknown>): Promise<void> {
  const { instanceLine } = await import("../show/instance.ts");
  const instance = await pawl.call("acceptLate", args);
  if (terminal.json) printJson(terminal, instance);
  else terminal.print(instanceLine(terminal, instance));
}

const columns: readonly Column<CallbackResponse>[] = [
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
  { title: "lifecycle", text: (one) => one.lifecycle, shown: (one, paint) => paint.bold(one.lifecycle) },
  { title: "key", text: (one) => one.key ?? "", shown: (one, paint) => visible(one.key ?? "") || paint.dim("–") },
  { title: "event", text: (one) => one.event },
  { title: "what", text: (one) => (one.error === null ? "result" : "error") },
  { title: "status", text: (one) => one.status, shown: (one, paint) => coloured(one.status, paint) },
  {
    title: "late",
    text: (one) => (one.late ? "late" : ""),
    shown: (one, paint) => (one.late ? paint.yellow("late") : ""),
  },
  { title: "dedupeKey", text: (one) => one.dedupeKey, shown: (one) => visible(one.dedupeKey) },
  { title: "received", text: (one) => one.receivedAt, shown: (one) => ago(one.receivedAt) },
];

function coloured(status: CallbackResponse["status"], paint: Paint): string {
  if (status === "applied" || status === "accepted") return paint.green(status);
  return status === "rejected" || status === "refused" ? paint.red(status) : paint.yellow(status);
}

function show(terminal: Terminal, callback: CallbackResponse): void {
  if (terminal.json) {
    printJson(terminal, callback);
    return;
  }
  const { error, settledAt, version } = callback;
  const lines: [title: string, text: string | null][] = [
    ["for", `${callback.event} of ${callback.lifecycle} ${callback.key ?? callback.instance}`],
    ["instance", callback.instance],
    ["dedupeKey", callback.dedupeKey],
    ["from", callback.actor === null ? callback.source : `${callback.actor}, by ${callback.source}`],
    ["received", callback.late ? `${callback.receivedAt}, after the deadline` : callback.receivedAt],
    ["status", [callback.status, settledAt, version === null ? null : `as move ${version}`].filter(Boolean).join(", ")],
    ["reason", callback.reason],
    ["payload", callback.payload === null ? null : JSON.stringify(callback.payload)],
    ["error", error === null ? null : `${error.name}: ${error.message}`],
  ];
  for (const [title, text] of lines) {
    if (text !== null) terminal.print(`${terminal.paint.dim(title.padEnd(9))} ${visible(text)}`);
  }
  if (callback.status === "kept" && error === null)
    terminal.note(`It arrived late and was not applied. To accept it: pawl callbacks accept ${callback.id}`);
}
