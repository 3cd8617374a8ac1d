import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Answer, Request } from "./harness.ts";
import type { System } from "./systems.ts";

const here = import.meta.dirname;

/** Runs one workload of one system in a process of its own. What goes wrong there is an answer too. */
export function ask(
  node: string,
  system: Pick<System, "script" | "env">,
  request: Request,
  limitSeconds: number,
): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(node, [join(here, system.script)], {
      cwd: here,
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...system.env, NODE_ENV: "production", NODE_NO_WARNINGS: "1" },
    });
    let out = "";
    let complaints = "";
    child.stdout.on("data", (data: Buffer) => {
      out += data.toString();
    });
    child.stderr.on("data", (data: Buffer) => {
      complaints = (complaints + data.toString()).slice(-2_000);
    });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, limitSeconds * 1_000);
    child.once("error", (error) => resolve({ error: error.message }));
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      const last = out.trim().split("\n").at(-1) ?? "";
      if (late) resolve({ error: `not finished after ${limitSeconds} s` });
      else if (last.startsWith("{")) resolve(JSON.parse(last) as Answer);
      else resolve({ error: `ended with ${signal ?? code}: ${complaints.trim().split("\n").slice(-3).join(" ")}` });
    });
    child.stdin.on("error", () => {}); // It ended before it read; `close` tells.
    child.stdin.end(`${JSON.stringify(request)}\n`);
  });
}
