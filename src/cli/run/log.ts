import type { PawlOptions } from "../../api/open/create.ts";
import { PawlError } from "../../base/errors.ts";
import { type Terminal, visible } from "../show/terminal.ts";

const levels = ["debug", "info", "warn", "error", "silent"] as const;
type Level = (typeof levels)[number];

/** Writes lines for people to a terminal, and JSON to any other stderr. `PAWL_LOG_LEVEL` sets the level. */
export function makeLogger(terminal: Terminal, env: NodeJS.ProcessEnv): PawlOptions["logger"] {
  const level = levelOf(env.PAWL_LOG_LEVEL);
  if (terminal.json || !terminal.isNotesTty) return { level };
  let last = "";
  const printing = (at: Exclude<Level, "silent">, mark: string) => (_fields: object, message: string) => {
    // An error that repeats every second is logged once, until another one occurs.
    if (levels.indexOf(at) < levels.indexOf(level) || (message === last && at !== "info")) return;
    last = message;
    const time = terminal.paintNotes.dim(new Date().toTimeString().slice(0, 8));
    terminal.note(`  ${time}  ${mark} ${visible(message)}`);
  };
  const { yellow, red, dim } = terminal.paintNotes;
  return {
    debug: printing("debug", dim("·")),
    info: printing("info", dim("·")),
    warn: printing("warn", yellow("!")),
    error: printing("error", red("✗")),
  };
}

function levelOf(given: string | undefined): Level {
  if (given === undefined || given === "") return "info";
  const found = levels.find((level) => level === given.toLowerCase());
  if (found !== undefined) return found;
  throw new PawlError("config_invalid", `PAWL_LOG_LEVEL must be one of ${levels.join(", ")}.`);
}
