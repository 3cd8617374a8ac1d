import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { FaultPoint } from "../../src/kernel/faults.ts";
import type { Answer, Ledger } from "./ledger.ts";

const root = join(import.meta.dirname, "../..");

/** How a process is to die: by its own hand at the nth visit of a point, or by ours after so many answers. */
export type Death = { readonly at: FaultPoint; readonly nth: number } | { readonly afterAnswers: number };

/** How it died, and how many of its calls were under way. */
export interface Died {
  readonly death: Death;
  readonly underWay: number;
}

/**
 * The program as JavaScript, once for all: two hundred processes would each take longer to read TypeScript than to do
 * what they are killed for. It lies below the root, where its packages are found.
 */
export class Victims {
  readonly #folder: string;
  readonly #alive = new Set<ChildProcess>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async prepare(): Promise<Victims> {
    const cache = join(root, "node_modules/.cache");
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(join(cache, "pawl-victims-"));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const files = ["test/faults/child.ts", "src/store/pglite/thread.ts"];
    const options = ["--ignoreConfig", "--noCheck", "--rewriteRelativeImportExtensions", "--skipLibCheck"];
    const target = ["--target", "es2023", "--module", "nodenext", "--types", "node"];
    await promisify(execFile)(
      process.execPath,
      [tsc, ...files, ...options, ...target, "--rootDir", ".", "--outDir", folder],
      { cwd: root },
    );
    await cp(join(root, "src/store/migrations"), join(folder, "src/store/migrations"), { recursive: true });
    await cp(join(root, "package.json"), join(folder, "package.json"));
    return new Victims(folder);
  }

  /** Starts one, lets it work, and has it killed. What it asked for and was told goes into the ledger. */
  async live(env: Record<string, string>, death: Death, ledger: Ledger): Promise<Died> {
    const fault = "at" in death ? { PAWL_FAULT: `${death.at}:crash:${death.nth}` } : {};
    // Only compiled quickly, not well: it does not live long enough for more.
    const child = spawn(process.execPath, ["--liftoff-only", join(this.#folder, "test/faults/child.js")], {
      env: { ...process.env, ...env, ...fault },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#alive.add(child);
    const guard = setTimeout(() => child.kill("SIGABRT"), 30_000);
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
    // "close" comes when also its last line has been read.
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

  async end(): Promise<void> {
    for (const child of this.#alive) child.kill("SIGKILL");
    await rm(this.#folder, { recursive: true, force: true });
  }
}
