import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * Runs a server as long as our end of its standard input is open. A line on it is the signal to pass on. Its end
 * without a line means that we died, in any way: then the server ends too, and its folder is deleted.
 */
const keeper = `
exec 3<&0
folder=$1 last_signal=$2
shift 2
"$@" </dev/null 3<&- &
server=$!
(
  while read -r signal <&3; do kill -s "$signal" $server; done
  : >"$folder/orphaned"
  kill -s "$last_signal" $server
) 2>/dev/null &
watcher=$!
wait $server
status=$?
kill $watcher 2>/dev/null
test -e "$folder/orphaned" && rm -rf "$folder" 2>/dev/null
exit $status
`;

export interface KeptServer {
  /** Settles when the server is gone, for any reason. */
  readonly gone: Promise<unknown>;
  isGone(): boolean;
  send(signal: string): void;
  log(): string;
}

/** Starts `command` so that it cannot outlive us. */
export function keepServer(
  folder: string,
  lastSignal: "INT" | "QUIT" | "KILL" | "TERM",
  command: readonly string[],
): KeptServer {
  const logFile = join(folder, "server.log");
  const output = openSync(logFile, "a");
  // A session of its own: Ctrl-C is for the tests, and the server goes after them.
  const child = spawn("/bin/sh", ["-c", keeper, "keeper", folder, lastSignal, ...command], {
    ...unprivileged(),
    stdio: ["pipe", output, output],
    detached: true,
  });
  closeSync(output); // The server has its own.
  child.once("exit", () => child.stdin?.destroy());
  child.stdin?.on("error", () => {}); // The server ended first; `gone` has the reason.
  return {
    gone: ended(child),
    isGone: () => child.exitCode !== null || child.signalCode !== null,
    send: (signal) => child.stdin?.write(`${signal}\n`),
    log: () => readFileSync(logFile, "utf8"),
  };
}

export function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
  });
}

/** Ends a process that was started detached, and all that it started: vitest leaves its own behind when it is killed. */
export function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Gone already.
  }
}

const nobody = 65534;

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * PostgreSQL refuses to run as root, so root starts its servers as the user `nobody`, who needs a folder with access.
 */
export function unprivileged(): SpawnOptions {
  return isRoot() ? { uid: nobody, gid: nobody, cwd: "/" } : { cwd: "/" };
}

/** A fresh folder that the server's user owns. */
export function makeFolder(parent?: string): string {
  const place = parent ?? (isRoot() && !everyoneEnters(tmpdir()) ? "/tmp" : tmpdir());
  const folder = mkdtempSync(join(place, "pawl-server-"));
  if (isRoot()) chownSync(folder, nobody, nobody);
  return folder;
}

function everyoneEnters(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return dirname(folder) === folder || everyoneEnters(dirname(folder));
}

export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
