import type { Flags } from "./project/settings.ts";
import type { Terminal } from "./show/terminal.ts";

/** What every command is given. */
export interface Context {
  readonly terminal: Terminal;
  readonly flags: Flags;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly version: string;
}

/** Resolves to the exit code; to anything but a number for 0. */
export type Action<Options> = (context: Context, options: Options, ...args: string[]) => Promise<unknown>;

/** Makes the action of a command: creates its context, and turns errors into text and exit code. */
export type Act = <Options>(action: Action<Options>) => (...given: unknown[]) => Promise<void>;
