import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { FaultPoint } from "../../../src/kernel/faults.ts";
import { compiled } from "../../setup/compile.ts";
import type { Answer, Ledger } from "../checks/ledger.ts";

/** How a process dies: by itself at the nth visit of a point, or by a signal of ours after a number of answers. */
export type Death = { readonly at: FaultPoint; readonly nth: number } | { readonly afterAnswers: number };

/** How it died, and how many of its calls were in progress. */
export interface Died {
  readonly death: Death;
  readonly underWay: number;
}

/** Processes that work until they are killed. */
export class Victims {
  readonly #alive = new Set<ChildProcess>();

  /** Starts one, lets it run, and has it killed. Its calls and their results go into the ledger. */
  async live(env: Record<string, string>, death: Death, ledger: Ledger): Promise<Died> {
    const fault = "at" in death ? { PAWL_FAULT: `${death.at}:crash:${death.nth}` } : {};
    // Only compiled quickly, not well: it does not live long enough for more.
    const child = spawn(process.execPath, ["--liftoff-only", compiled("test/faults/processes/child.ts")], {
      env: { ...process.env, ...env, ...fault },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#alive.add(child);
    const guard = setTimeout(() => child.kill("SIGABRT"), 120_000);
    let complaints = "";
    child.stderr.on("data", (text) => {
      complaints += text;
    });
    const underWay = new Set<string>();
    let answers = 0;
    let last = "";
    createInterface(child.stdout).on("line", (line) => {
      const [what, mark = "", rest = ""] = line.split("\t");
      if (what === "violation") complaints += `${mark}\n`;
      if (what === "fault") last = `${mark}:${rest}`;
      if (what === "begin") {
        underWay.add(mark);
        ledger.begin(mark, Number(rest));
      }
      if (what !== "answer") return;
      answers += 1;
      underWay.delete(mark);
      ledger.answer(mark, rest as Answer);
      if ("afterAnswers" in death && answers === death.afterAnswers) child.kill("SIGKILL");
    });
    // "close" comes after its last line was read.
    const signal = await new Promise<string | null>((resolve) =>
      child.once("close", (_code, signal) => resolve(signal)),
    );
    clearTimeout(guard);
    this.#alive.delete(child);
    const asWanted = "at" in death ? last === `${death.at}:${death.nth}` : answers >= death.afterAnswers;
    if (signal !== "SIGKILL" || !asWanted || complaints !== "") {
      throw new Error(`It was to die (${JSON.stringify(death)}), and ended with ${signal} at ${last}. ${complaints}`);
    }
    return { death, underWay: underWay.size };
  }

  end(): void {
    for (const child of this.#alive) child.kill("SIGKILL");
  }
}
