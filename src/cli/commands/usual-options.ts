import type { Command } from "commander";
import { wholeNumber } from "../arguments.ts";

/** Who does it, and why. */
export interface Cause {
  readonly actor?: string;
  readonly reason?: string;
}

export function withCause(command: Command): Command {
  return command.option("--actor <name>", "name to record as the actor").option("--reason <text>", "reason to record");
}

/** For what must not be done without a reason. */
export function withReason(command: Command): Command {
  return command
    .option("--actor <name>", "name to record as the actor")
    .requiredOption("--reason <text>", "reason to record");
}

/** A part of a long list. */
export interface Page {
  readonly limit: number;
  readonly after?: string;
}

export function withPage(command: Command): Command {
  return command
    .option("--limit <count>", "maximum number of results", wholeNumber, 50)
    .option("--after <id>", "continue after this id, the last one of the previous page");
}
