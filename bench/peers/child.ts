import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Answer, marks, type Request } from "./harness.ts";
import type { System } from "./systems.ts";

const here = import.meta.dirname;

/** What a server has used so far, as far as it is known. */
export interface Usage {
  readonly cpuMs: number | undefined;
  readonly walBytes: number | undefined;
}

/**
 * Runs one workload of one system in a process of its own. What goes wrong there is an answer too. The server is measured
 * where the timed part begins and ends.
 */
export function ask(
  node: string,
  system: Pick<System, "script" | "env">,
  request: Request,
  { limitSeconds, measure }: { limitSeconds: number; measure: () => Promise<Usage> },
): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(node, [join(here, system.script)], {
      cwd: here,
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...system.env, NODE_ENV: "production", NODE_NO_WARNINGS: "1" },
    });
    let out = "";
    let complaints = "";
    const measured: Promise<Usage>[] = [];
    child.stdout.on("data", (data: Buffer) => {
      out += data.toString();
      for (const [place, mark] of [marks.begin, marks.end].entries())
        if (measured.length === place && out.includes(mark)) measured.push(measure());
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
      else if (last.startsWith("{"))
        Promise.all(measured).then(
          (usages) => resolve(withServer(JSON.parse(last) as Answer, usages)),
          (error: Error) => resolve({ error: error.message }),
        );
      else resolve({ error: `ended with ${signal ?? code}: ${complaints.trim().split("\n").slice(-3).join(" ")}` });
    });
    child.stdin.on("error", () => {}); // It ended before it read; `close` tells.
    child.stdin.end(`${JSON.stringify(request)}\n`);
  });
}

/** The answer, with what the server took for each item. */
function withServer(answer: Answer, [before, after]: readonly Usage[]): Answer {
  const { cost, rate, seconds } = answer;
  if (before === undefined || after === undefined || cost === undefined) return answer;
  const items = rate! * seconds!;
  const used = (of: keyof Usage) => (after[of] === undefined ? undefined : (after[of] - before[of]!) / items);
  const [cpuMs, walBytes] = [used("cpuMs"), used("walBytes")];
  return {
    ...answer,
    cost: {
      ...cost,
      ...(cpuMs === undefined ? {} : { serverUs: cpuMs * 1_000 }),
      ...(walBytes === undefined ? {} : { walBytes }),
    },
  };
}
