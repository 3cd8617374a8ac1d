import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");

/** Programs that are started as a process or as a thread of their own. */
const programs = [
  "src/people/labels/validation-thread.ts",
  "src/store/pglite/thread.ts",
  "src/store/postgres/lease-thread.ts",
  "test/faults/processes/assessment-child.ts",
  "test/faults/processes/child.ts",
  "test/faults/failover/trip-child.ts",
  "test/faults/processes/family-child.ts",
  "test/faults/processes/pruner-child.ts",
  "test/faults/relays/relay-child.ts",
  "test/faults/processes/worker-child.ts",
  "test/schedules/schedule-child.ts",
];

/**
 * Compiles these programs to JavaScript, once per run: hundreds of processes and threads would each take longer to read
 * TypeScript than to do their work. The output is below the root, where packages are found; `pawl` resolves to the
 * sources, and not to the last build. Returns the folder.
 */
export async function compilePrograms(): Promise<string> {
  const cache = join(root, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "pawl-programs-"));
  await compileAgain(folder);
  return folder;
}

/** The same from the current sources: for watch mode. */
export async function compileAgain(folder: string): Promise<void> {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const options = ["--ignoreConfig", "--noCheck", "--rewriteRelativeImportExtensions", "--skipLibCheck"];
  const target = [
    "--target",
    "es2023",
    "--module",
    "nodenext",
    "--types",
    "node",
    "--rootDir",
    ".",
    "--outDir",
    folder,
  ];
  const all = [...programs, "src/index.ts"];
  const vite = [join(root, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"];
  const run = promisify(execFile);
  await Promise.all([
    run(process.execPath, [tsc, ...all, ...options, ...target], { cwd: root }),
    run(process.execPath, [...vite, "--outDir", join(folder, "console")], { cwd: root }),
  ]);
  await cp(join(root, "src/store/migrations"), join(folder, "src/store/migrations"), { recursive: true });
  const manifest = await readFile(join(root, "package.json"), "utf8");
  await writeFile(join(folder, "package.json"), manifest.replaceAll('"./dist/', '"./src/'));
}

/** The path of one of them; throws outside of a test run. */
export function compiled(program: string): string {
  const folder = process.env.PAWL_COMPILED;
  if (folder === undefined || !programs.includes(program)) throw new Error(`${program} was not compiled for this run.`);
  return join(folder, program.replace(/\.ts$/, ".js"));
}

/** The folder of the pages that were built for this run. */
export function builtPages(): URL {
  return pathToFileURL(join(process.env.PAWL_COMPILED!, "console/"));
}

export async function removePrograms(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
