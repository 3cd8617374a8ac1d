import type { Command } from "commander";
import { PawlError } from "../../../base/errors.ts";
import { instanceArgs, jsonValue, wholeNumber } from "../../arguments.ts";
import type { Act } from "../../program.ts";
import { printJson } from "../../show/terminal.ts";
import { reached } from "../reached.ts";
import { instanceNamed } from "./instance-argument.ts";

interface Options {
  readonly id?: string;
  readonly payload?: unknown;
  readonly actor?: string;
  readonly reason?: string;
  readonly expectedVersion?: number;
  readonly idempotencyKey?: string;
  readonly after?: string;
  readonly at?: string;
}

export function addInstanceSend(instance: Command, act: Act): void {
  instance
    .command("send")
    .description("send an event to an instance")
    .usage("[options] <lifecycle> <key> <event>\n       pawl instance send [options] <lifecycle> <event> --id <id>")
    .argument("<lifecycle>")
    .argument("<key>", "its key; with --id, the event")
    .argument("[event]")
    .option("--id <id>", "its id, instead of its key")
    .option("--payload <json>", "what comes with the event: JSON, @file, or - for stdin", jsonValue)
    .option("--actor <name>", "who causes it")
    .option("--reason <text>", "why")
    .option("--expected-version <number>", "refuse unless it is still at this version", wholeNumber)
    .option("--idempotency-key <key>", "the same key a second time changes nothing")
    .option("--after <duration>", "send it later: 90s, 10m, 2h")
    .option("--at <moment>", "send it at a moment: 2026-01-31T12:00:00Z")
    .action(
      act<Options>(async (context, { id, ...options }, lifecycle, ...names) => {
        const [key, event] = id === undefined ? names : [undefined, ...names];
        const [which, args] = [instanceArgs(key, id), { event: named(event, id), ...options }];
        const { instanceLine } = await import("../../show/instance.ts");
        return await reached(context, async (pawl) => {
          const moved = await pawl.call("send", { ...(await instanceNamed(pawl, lifecycle, which)), ...args });
          const { terminal } = context;
          if (terminal.json) printJson(terminal, moved);
          else terminal.print(instanceLine(terminal, moved));
          return undefined;
        });
      }),
    );
}

function named(event: string | undefined, id: string | undefined): string {
  if (event !== undefined) return event;
  const usage = id === undefined ? "LIFECYCLE KEY EVENT" : "LIFECYCLE EVENT --id ID";
  throw new PawlError("option_invalid", `Say which event is to be sent: pawl instance send ${usage}.`);
}
