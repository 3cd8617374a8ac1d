#!/usr/bin/env node
import { runCli } from "./run-cli.ts";

// `pawl … | head` closes the pipe when it has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const code = await runCli(process.argv);
// A config may have left timers or connections open; a command that is done ends all the same.
process.stdout.write("", () => process.exit(code));
