import type { Command } from "commander";
import type { ArchiveAnswer } from "../../../http/contract.ts";
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
    .description("archive dead letters now, the oldest first, and remove them when they are safe there")
    .option("--older-than <duration>", "from which age on, such as 7d; as the config keeps them unless given")
    .action(act<{ olderThan?: string }>((context, options) => archive(context, { ...options })));
  dead
    .command("archives")
    .description("list the files that were archived, the newest first")
    .option("--limit <count>", "at most so many", wholeNumber, 50)
    .action(act<{ limit: number }>((context, { limit }) => archives(context, limit)));
  dead
    .command("restore")
    .description("bring dead letters back from the archive as they were; again changes nothing")
    .argument("[file...]", "all that are in these files")
    .option("--id <id>", "only this letter; may be given several times", several)
    .option("--all", "all that were ever archived")
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
        `${done.restored} dead letters are back from ${done.files} files; ${done.there} were here, and of ${done.gone} the instances are gone.`,
      );
    return undefined;
  });
}

const columns: readonly Column<ArchiveAnswer>[] = [
  { title: "file", text: (one) => one.name },
  { title: "archive", text: (one) => one.archive },
  { title: "letters", text: (one) => String(one.letters), alignRight: true },
  { title: "bytes", text: (one) => String(one.bytes), alignRight: true },
  { title: "archived", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
];
