import type { Command } from "commander";
import type { ArchiveResponse } from "../../../http/contract.ts";
import { several, wholeNumber } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { ago } from "../../show/moments.ts";
import { type Column, printJson, printList } from "../../show/terminal.ts";
import { reached } from "../reached.ts";

interface RestoreOptions {
  readonly id?: readonly string[];
  readonly all?: boolean;
}

export function addArchive(dead: Command, act: Act): void {
  dead
    .command("archive")
    .description("archive dead letters now, oldest first, and delete them once they are stored")
    .option("--older-than <duration>", "minimum age, such as 7d (default: the retention of the config)")
    .action(act<{ olderThan?: string }>((context, options) => archive(context, { ...options })));
  dead
    .command("archives")
    .description("list archive files, newest first")
    .option("--limit <count>", "maximum number of results", wholeNumber, 50)
    .action(act<{ limit: number }>((context, { limit }) => archives(context, limit)));
  dead
    .command("restore")
    .description("restore dead letters from the archive; repeating it changes nothing")
    .argument("[file...]", "all dead letters in these files")
    .option("--id <id>", "only this dead letter; repeatable", several)
    .option("--all", "all archived dead letters")
    .action(
      act<RestoreOptions>((context, options, files) =>
        restore(context, { ...options, file: files!.length === 0 ? undefined : files }),
      ),
    );
}

function archive({ terminal, ...context }: Context, args: Record<string, unknown>): Promise<undefined> {
  return reached({ terminal, ...context }, async (pawl) => {
    const done = await pawl.call("archiveDeadLetters", args);
    if (terminal.json) printJson(terminal, done);
    else terminal.print(`${done.letters} dead letters were archived in ${done.files} files.`);
    return undefined;
  });
}

function archives(context: Context, limit: number): Promise<undefined> {
  return reached(context, async (pawl) => printList(context.terminal, await pawl.call("archives", { limit }), columns));
}

function restore({ terminal, ...context }: Context, args: Record<string, unknown>): Promise<undefined> {
  return reached({ terminal, ...context }, async (pawl) => {
    const done = await pawl.call("restoreDeadLetters", args);
    if (terminal.json) printJson(terminal, done);
    else
      terminal.print(
        `${done.restored} dead letters were restored from ${done.files} files; ${done.there} already existed, and ${done.gone} belong to deleted instances.`,
      );
    return undefined;
  });
}

const columns: readonly Column<ArchiveResponse>[] = [
  { title: "file", text: (one) => one.name },
  { title: "archive", text: (one) => one.archive },
  { title: "letters", text: (one) => String(one.letters), alignRight: true },
  { title: "bytes", text: (one) => String(one.bytes), alignRight: true },
  { title: "archived", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
];
