import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const root = join(import.meta.dirname, "../..");
const bin = join(root, "dist/cli/bin.js");

/** Brings `dist` up to date. One test file at a time: another must not run what is just being written. */
export function build(): void {
  const lock = join(root, "node_modules/.cache/pawl-build");
  for (let made = false; !made; ) {
    try {
      mkdirSync(dirname(lock), { recursive: true });
      mkdirSync(lock);
      made = true;
    } catch {
      // A lock of a killed run is no lock.
      if (Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > 120_000)
        rmSync(lock, { recursive: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
  try {
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "-b", "tsconfig.build.json"], { cwd: root, encoding: "utf8" });
    // It writes what it can; a fault of types is for the check of types to tell.
    if (!existsSync(bin)) throw new Error(`There is no ${bin}:\n${stdout}`);
    const vite = join(root, "node_modules/vite/bin/vite.js");
    if (!existsSync(join(root, "dist/console")))
      spawnSync(process.execPath, [vite, "build", "--logLevel", "warn"], { cwd: root });
    // As the package has it: every first start with an embedded database takes half the time.
    const ship = "import('./dist/store/pglite/new-database.js').then((it) => it.shipDatabase())";
    spawnSync(process.execPath, ["-e", ship], { cwd: root });
    makeFolder();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

const emptyFolder = join(root, "node_modules/.cache/pawl-empty-folder");

/** An embedded database with its schema and nothing else in it, made anew when migrations or the engine are others. */
function makeFolder(): void {
  const shipped = readdirSync(join(root, "dist/store/pglite")).find((name) => name.endsWith(".tar.gz")) ?? "none";
  if (existsSync(join(emptyFolder, shipped))) return;
  rmSync(emptyFolder, { recursive: true, force: true });
  const made = spawnSync(process.execPath, [bin, "migrate", "--folder", join(emptyFolder, shipped)], { cwd: tmpdir() });
  if (made.status !== 0) throw new Error(`No folder for tests could be made:\n${made.stderr.toString()}`);
}

/** A user's project: files in a folder of its own, with Pawl, tsx and zod installed. */
export function newProject(files: Readonly<Record<string, string>>, name = "pawl-project-"): Project {
  return new Project(files, name);
}

export interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

export class Project {
  readonly folder: string;
  readonly #made: string;
  readonly #running = new Set<PawlCommand>();

  constructor(files: Readonly<Record<string, string>>, name: string) {
    this.#made = realpathSync(mkdtempSync(join(tmpdir(), "pawl-project-")));
    this.folder = join(this.#made, name);
    mkdirSync(join(this.folder, "node_modules"), { recursive: true });
    symlinkSync(root, join(this.folder, "node_modules/pawl"), "junction");
    for (const each of ["tsx", "zod"]) {
      symlinkSync(join(root, "node_modules", each), join(this.folder, "node_modules", each), "junction");
    }
    this.write({ "package.json": '{ "type": "module" }', ...files });
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), text);
    }
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  /** Runs `pawl` with these arguments, to its end. */
  pawl(...args: string[]): Promise<Ended> {
    return this.begin(args).ended;
  }

  /** Runs `pawl` and reads its one JSON document. */
  async json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.pawl(...args, "--json");
    if (code !== 0) throw new Error(`pawl ${args.join(" ")} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  begin(args: readonly string[], env: Readonly<Record<string, string>> = {}): PawlCommand {
    const command = new PawlCommand(args, this.folder, env);
    this.#running.add(command);
    void command.ended.then(() => this.#running.delete(command));
    return command;
  }

  /** Begins `pawl start`, and waits until it is ready. Its database is a copy: to make one takes longer than most tests. */
  async start(...args: string[]): Promise<PawlCommand> {
    const named = args.indexOf("--folder");
    const folder = this.path(named === -1 ? ".pawl" : args[named + 1]!);
    if (!existsSync(folder)) cpSync(join(emptyFolder, readdirSync(emptyFolder)[0]!), folder, { recursive: true });
    const command = this.begin(["start", ...args]);
    await command.says("Press Ctrl-C");
    return command;
  }

  async remove(): Promise<void> {
    for (const command of this.#running) await command.end("SIGKILL");
    rmSync(this.#made, { recursive: true, force: true });
  }
}

/** A `pawl` process. */
export class PawlCommand {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #heard = new Set<() => void>();
  #stdout = "";
  #stderr = "";

  constructor(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [bin, ...args], {
      cwd,
      env: { ...plainEnv(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout!.on("data", (chunk) => this.#hear(() => (this.#stdout += chunk)));
    this.#child.stderr!.on("data", (chunk) => this.#hear(() => (this.#stderr += chunk)));
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (code, signal) => {
        resolve({ code: code ?? signal ?? "", stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get stdout(): string {
    return this.#stdout;
  }

  /** Waits until a text was printed, on stdout or stderr; fails when the process ends without it. */
  async says(text: string): Promise<void> {
    const said = new Promise<void>((resolve) => {
      const look = () => (this.#stdout + this.#stderr).includes(text) && resolve();
      this.#heard.add(look);
      look();
    });
    const silent = this.ended.then(({ code, stdout, stderr }) => {
      if (!(stdout + stderr).includes(text))
        throw new Error(`It ended with ${code} and never said "${text}":\n${stdout}${stderr}`);
    });
    await Promise.race([said, silent]);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  end(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.signal(signal);
    return this.ended;
  }

  #hear(keep: () => void): void {
    keep();
    for (const look of this.#heard) look();
  }
}

/** Nothing of the machine's own settings. */
function plainEnv(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of Object.keys(env))
    if (/^(?:PAWL_|DATABASE_URL$|FORCE_COLOR$|NODE_OPTIONS$|VITEST)/.test(name)) delete env[name];
  return env;
}

/** A parcel waits to be shipped, is reminded of, and is lost after a while: no worker is needed. */
export const parcelConfig = `
import { defineConfig, lifecycle } from "pawl";
import { z } from "zod";

export const parcel = lifecycle("parcel", {
  data: z.object({ address: z.string(), carrier: z.string().optional() }),
  events: { ship: z.object({ carrier: z.string() }) },
  initial: "packed",
  states: {
    packed: {
      forever: true,
      on: {
        ship: {
          to: "under_way",
          guard: ({ actor }) => actor !== "thief" || "a thief ships nothing",
          set: ({ payload }) => payload,
        },
        hurry: "hurried",
      },
    },
    hurried: { timeout: { after: "200ms", send: "arrive" }, on: { arrive: "delivered" } },
    under_way: { timeout: { after: "10d", send: "lose" }, on: { arrive: "delivered", lose: "lost" } },
    delivered: { final: "success" },
    lost: { final: "failure" },
  },
});

export default defineConfig({
  lifecycles: [parcel],
  seed: async (pawl) => {
    for (const key of ["seeded", "tried"]) await pawl.start(parcel, { key, data: { address: "Elm 1" } });
  },
});
`;
