import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BlockModule } from "./modules.ts";

/** What a program may take as given when it is run: stand-ins for what ambient.ts declares. */
const given = `
globalThis.mailer = { send: async () => {} };
globalThis.expect = (value) => ({
  toMatchObject(expected) {
    for (const [name, one] of Object.entries(expected))
      if (value[name] !== one) throw new Error(name + " is " + value[name] + " instead of " + one);
  },
});
`;
const provided = new Set(["mailer", "expect"]);
/** What needs no server and no account. */
const runnable = new Set(["pawl", "pawl/testing", "pawl/http", "zod"]);

/**
 * The blocks that are whole programs and can run on their own: they import what they use, need no other server than the
 * embedded database, and nothing of the reader's own that has no stand-in here.
 */
export function programsOf(modules: readonly BlockModule[]): BlockModule[] {
  const surroundings = readFileSync(fileURLToPath(new URL("ambient.ts", import.meta.url)), "utf8");
  const names = [...surroundings.matchAll(/^ {2}(?:const|let) (\w+):/gm)].map(([, name]) => name!);
  return modules.filter(({ block, text }) => {
    if (!block.file.endsWith(".md") || !/^import /m.test(block.text)) return false;
    const imports = [...block.text.matchAll(/^import .* from "([^"]+)";/gm)].map(([, from]) => from!);
    const code = text.replaceAll(/(?<!:)\/\/.*$/gm, "");
    const declares = (name: string) => new RegExp(`\\b(?:const|let|import) \\{?[^;=()]*\\b${name}\\b|\\(${name}\\) =>`);
    const isDeclared = (name: string) => declares(name).test(code);
    const needs = names.filter((name) => new RegExp(`(?<![.\\w"'/-])${name}(?![\\w"'-])(?!:)`).test(code));
    return imports.every((from) => runnable.has(from)) && needs.every((name) => provided.has(name) || isDeclared(name));
  });
}

/** Runs a program in an empty folder, with the embedded database there; resolves to what went wrong, or to nothing. */
export async function runProgram(blocks: string, { name }: BlockModule, tsconfig: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-program-"));
  const start = join(blocks, `run-${name}.mjs`);
  writeFileSync(start, `${given}\nawait import("./${name}.ts");\nprocess.exit(0);\n`);
  const tsx = fileURLToPath(import.meta.resolve("tsx"));
  const { DATABASE_URL: _, NODE_ENV: __, ...env } = process.env;
  const child = spawn(process.execPath, ["--import", tsx, start], {
    cwd: folder,
    env: { ...env, TSX_TSCONFIG_PATH: tsconfig },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    said += piece;
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return code === 0 ? "" : said || `It ended with ${code}.`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
