import type { Command } from "commander";
import { messageOf } from "../../../base/errors.ts";
import type { Act, Context } from "../../program.ts";
import type { Finding } from "../../project/finding.ts";
import { exitCodes } from "../../show/failure.ts";
import { printJson } from "../../show/terminal.ts";

export function addDoctor(program: Command, act: Act): void {
  program
    .command("doctor")
    .description(
      "check Node, the config, and the database with its clock, schema and privileges; list stuck instances; exits with 1 on a fault",
    )
    .action(
      act(async (context) => {
        const findings: Finding[] = [];
        for await (const finding of examine(context)) {
          findings.push(finding);
          if (!context.terminal.json) print(context, finding);
        }
        const ok = findings.every((one) => one.ok);
        if (context.terminal.json) printJson(context.terminal, { ok, findings });
        return ok ? exitCodes.ok : exitCodes.failed;
      }),
    );
}

function print({ terminal }: Context, { what, ok, warning, found, remedy }: Finding): void {
  const { green, yellow, red, bold, dim } = terminal.paint;
  terminal.print(`${warning ? yellow("!") : ok ? green("✓") : red("✗")} ${bold(what.padEnd(9))} ${found}`);
  if (remedy !== undefined) terminal.print(`  ${" ".repeat(9)} ${dim(remedy)}`);
}

function count(list: readonly unknown[], what: string): string {
  return `${list.length} ${what}${list.length === 1 ? "" : "s"}`;
}

async function* examine(context: Context): AsyncGenerator<Finding> {
  const { examineNode, examineConsole, examineDatabase, examineStuck } = await import("../../project/examine.ts");
  const { loadSettings } = await import("../../project/settings.ts");
  yield examineNode(process.versions.node);
  yield examineConsole();
  try {
    const settings = await loadSettings(context.flags, context.env, context.cwd);
    if (settings.config === undefined) {
      const remedy = "Write one with `pawl init`, or name it with --config.";
      yield { what: "Config", ok: false, found: `none found in ${context.cwd} or its parent folders`, remedy };
    } else {
      const { lifecycles, queues = [], crowds = [], path } = settings.config;
      const found = `${path}: ${count(lifecycles, "lifecycle")}, ${count(queues, "queue")}, ${count(crowds, "crowd")}`;
      yield { what: "Config", ok: true, found };
    }
    let isReady = settings.config !== undefined;
    for await (const finding of examineDatabase(settings)) {
      isReady &&= finding.ok;
      yield finding;
    }
    if (isReady) yield* examineStuck(settings);
  } catch (error) {
    yield { what: "Config", ok: false, found: messageOf(error), remedy: "Details: pawl check" };
  }
}
