import { Command, CommanderError } from "commander";
import { ownVersion } from "../api/open/version.ts";
import { addSignIn } from "./commands/access/sign-in.ts";
import { addSession, addToken } from "./commands/access/token.ts";
import { addBreakers } from "./commands/breakers.ts";
import { addCallbacks } from "./commands/callbacks.ts";
import { addCrowd } from "./commands/crowd/crowd.ts";
import { addDead } from "./commands/dead/dead.ts";
import { addExplain } from "./commands/explain.ts";
import { addInstance } from "./commands/instance/instance.ts";
import { addJobs } from "./commands/jobs.ts";
import { addLanes } from "./commands/lanes.ts";
import { addOperations } from "./commands/operations/operations.ts";
import { addOutbox } from "./commands/outbox.ts";
import { addCheck } from "./commands/project/check.ts";
import { addCompletion } from "./commands/project/completion.ts";
import { addDiagram } from "./commands/project/diagram.ts";
import { addDoctor } from "./commands/project/doctor.ts";
import { addInit } from "./commands/project/init.ts";
import { addMigrate } from "./commands/project/migrate.ts";
import { addOpenapi } from "./commands/project/openapi.ts";
import { addVerify } from "./commands/project/verify.ts";
import { addLabeler, addQueue } from "./commands/queue/queue.ts";
import { addRelay } from "./commands/run/relay.ts";
import { addServe } from "./commands/run/serve.ts";
import { addStart } from "./commands/run/start.ts";
import { addWork } from "./commands/run/work.ts";
import { addSchedules } from "./commands/schedules.ts";
import { addStatus } from "./commands/status.ts";
import { addStuck } from "./commands/stuck.ts";
import { addWorkers } from "./commands/workers.ts";
import type { Act, Action } from "./program.ts";
import type { Flags } from "./project/settings.ts";
import { exitCodeOf, exitCodes, explain } from "./show/failure.ts";
import { makeTerminal, type TerminalFlags } from "./show/terminal.ts";

const examples = `
Examples:
  pawl start                                    run everything here, on an embedded database
  pawl status                                   show instance counts by state
  pawl instance list expense --state submitted  list instances
  pawl instance show expense trip-to-oslo       show an instance with its history
  pawl instance send expense trip-to-oslo approve --actor grace
`.trimStart();

const more = "`pawl --help` lists all commands, `pawl <command> --help` explains one.\n";

/** Runs one command line and returns its exit code. */
export async function runCli(argv: readonly string[], env = process.env): Promise<number> {
  const version = ownVersion();
  let code: number = exitCodes.ok;
  const act: Act =
    <Options>(action: Action<Options>) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      const flags = command.optsWithGlobals<Flags & TerminalFlags>();
      const terminal = makeTerminal(flags, env);
      try {
        const context = { terminal, flags, env, cwd: process.cwd(), version };
        const result = await action(context, command.opts() as Options, ...(given.slice(0, -2) as string[]));
        code = typeof result === "number" ? result : exitCodes.ok;
      } catch (error) {
        explain(terminal, error);
        code = exitCodeOf(error);
      }
    };
  try {
    if (argv.length > 2) await makeProgram(version, act).parseAsync([...argv]);
    else process.stdout.write(`${examples}\n${more}`);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  return code;
}

function makeProgram(version: string, act: Act): Command {
  const program = new Command("pawl")
    .description("Durable lifecycles on Postgres.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .exitOverride() // Before any command is added, or they would not inherit it.
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .addHelpText("before", examples)
    .option("--config <file>", "config file (default: pawl.config.ts here or in a parent folder)")
    .option("--folder <folder>", "folder of the embedded database (default: .pawl next to the config)")
    .option("--url <url>", "use the HTTP API at this URL, with the token in PAWL_TOKEN (default: PAWL_URL)")
    .option("--json", "print one JSON document")
    .option("--no-color", "print without colors")
    .option("--verbose", "print stack traces");
  for (const add of [
    addInit,
    addStart,
    addWork,
    addRelay,
    addServe,
    addStatus,
    addStuck,
    addInstance,
    addJobs,
    addWorkers,
    addLanes,
    addExplain,
    addDead,
    addOperations,
    addCallbacks,
    addBreakers,
    addSchedules,
    addOutbox,
    addQueue,
    addLabeler,
    addCrowd,
    addToken,
    addSession,
    addSignIn,
    addCheck,
    addDiagram,
    addOpenapi,
    addMigrate,
    addVerify,
    addDoctor,
    addCompletion,
  ])
    add(program, act);
  return program;
}
