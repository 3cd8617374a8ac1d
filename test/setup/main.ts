import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ended, endGroup } from "./keep.ts";
import type { Counts } from "./reporter.ts";
import { startServices } from "./services.ts";

// With arguments only the tests are run, and the arguments are vitest's: `npm test -- test/kernel`.
const root = join(import.meta.dirname, "../..");
const vitestArgs = process.argv.slice(2);
const checks: [string, string[]][] = [
  ["types", ["npm", "run", "--silent", "types"]],
  ["lint", ["npm", "run", "--silent", "lint"]],
  ["unused code", ["npm", "run", "--silent", "unused"]],
  ["build", ["npm", "run", "--silent", "build"]],
];
const vitest = ["node", "node_modules/vitest/vitest.mjs", "run", "--reporter=default"];

let current: ChildProcess | undefined;
let interruptedBy: NodeJS.Signals | undefined;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    interruptedBy = signal;
    if (current !== undefined) endGroup(current.pid);
  });
}

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    // Missing parts are downloaded meanwhile.
    const starting = startServices({ mayInstall: true, say });
    starting.catch(() => {});
    const brokenChecks = vitestArgs.length > 0 ? 0 : await runChecks();
    const services = await starting;
    try {
      say(header(services.about));
      return finish(await runTests(services.env), brokenChecks);
    } finally {
      await services.stop();
    }
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    say("0 passed, 1 failed");
    return 1;
  }
}

async function runChecks(): Promise<number> {
  let broken = 0;
  for (const [name, command] of checks) {
    if ((await step(name, () => spawnInRoot(command, process.env, []))) !== 0) broken += 1;
  }
  return broken;
}

/** The channel transports the counts. It also shows the tests when this process is killed: see global.ts. */
async function runTests(servicesEnv: NodeJS.ProcessEnv): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, skippedNames: [] };
  const command = [...vitest, "--reporter=./test/setup/reporter.ts", ...vitestArgs];
  const code = await step("tests", () => {
    const child = spawnInRoot(command, { ...servicesEnv, PAWL_TEST_SERVICES: "started" }, ["ipc"]);
    return child.on("message", (told: Counts) => Object.assign(counts, told));
  });
  if (counts.passed + counts.failed === 0 && interruptedBy === undefined) say("No test ran.");
  // Any other complaint of vitest, such as a file that it could not load or a run without tests.
  return { ...counts, failed: Math.max(counts.failed, code === 0 ? 0 : 1) };
}

/** Runs one command, prints its duration, and returns its exit code. */
async function step(name: string, start: () => ChildProcess): Promise<number> {
  if (interruptedBy !== undefined) return 1;
  const startedAt = performance.now();
  current = start();
  const code = await ended(current);
  say(`${name} ${code === 0 ? "ok" : "FAILED"}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return code;
}

function spawnInRoot([program, ...args]: readonly string[], env: NodeJS.ProcessEnv, more: "ipc"[]): ChildProcess {
  const path = program === "node" ? process.execPath : (program ?? "");
  return spawn(path, args, { cwd: root, env, stdio: ["inherit", "inherit", "inherit", ...more], detached: true });
}

/** Prints the result of the run; the last line is for programs, too. A check that broke counts as one failure. */
function finish(counts: Counts, brokenChecks: number): number {
  const failed = counts.failed + brokenChecks;
  if (interruptedBy !== undefined) say(`Interrupted by ${interruptedBy}.`);
  if (counts.skipped > 0) say(`Skipped:\n${listed(counts.skippedNames, 40)}`);
  say(`${counts.passed} passed, ${failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`);
  return failed > 0 || counts.passed === 0 ? 1 : 0;
}

function listed(names: readonly string[], most: number): string {
  const rest = names.length > most ? [`and ${names.length - most} more`] : [];
  return [...names.slice(0, most), ...rest].map((name) => `  ${name}`).join("\n");
}

function header(about: readonly string[]): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return [`Pawl ${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}`, ...about].join("\n");
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
