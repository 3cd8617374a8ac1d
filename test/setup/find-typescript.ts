import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The folder of a TypeScript: ours, or one that npm brings once and a cache keeps; undefined where npm could not. */
export function findTypescript(version: string): string | undefined {
  if (version === "installed") return join(root, "node_modules/typescript");
  const cache = join(root, "node_modules/.cache/pawl", `typescript-${version}`);
  const typescript = join(cache, "node_modules/typescript");
  if (existsSync(typescript)) return typescript;
  const fresh = mkdtempSync(join(tmpdir(), "pawl-typescript-"));
  try {
    const quiet = [
      "--no-save",
      "--no-package-lock",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--fetch-retries=0",
    ];
    execFileSync("npm", ["install", "--prefix", fresh, ...quiet, `typescript@${version}`], {
      timeout: 60_000,
      stdio: "ignore",
    });
    mkdirSync(dirname(cache), { recursive: true });
    cpSync(fresh, `${cache}.${process.pid}`, { recursive: true });
    renameSync(`${cache}.${process.pid}`, cache); // At once: another run may be at the same.
    return typescript;
  } catch {
    // Another file of the run may have installed it meanwhile, and its folder cannot be replaced.
    return existsSync(typescript) ? typescript : undefined;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
