import type { Command } from "commander";
import { PawlError } from "../../../base/errors.ts";
import { instanceArgs, jsonValue, wholeNumber } from "../../arguments.ts";
import type { Act } from "../../program.ts";
import { printJson } from "../../show/terminal.ts";
import { reached } from "../reached.ts";
import { withCause } from "../usual-options.ts";
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
  withCause(
    instance
      .command("send")
      .description("send an event to an instance")
      .usage("[options] <lifecycle> <key> <event>\n       pawl instance send [options] <lifecycle> <event> --id <id>")
      .argument("<lifecycle>")
      .argument("<key>", "its key; with --id, the event")
      .argument("[event]")
      .option("--id <id>", "its id, instead of its key")
      .option("--payload <json>", "the event's payload: JSON, @file, or - for stdin", jsonValue),
  )
    .option("--expected-version <number>", "fail unless the instance is at this version", wholeNumber)
    .option("--idempotency-key <key>", "a repeated call with the same key changes nothing")
    .option("--after <duration>", "delay before it is sent: 90s, 10m, 2h")
    .option("--at <moment>", "time at which it is sent: 2026-01-31T12:00:00Z")
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
  throw new PawlError("option_invalid", `Name the event: pawl instance send ${usage}.`);
}
