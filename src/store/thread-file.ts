import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/** A file for a thread: the TypeScript source while we develop, the JavaScript made of it in the package. */
export function threadFile(source: URL): { file: URL; execArgv: string[] } {
  if (import.meta.url.endsWith(".ts")) return { file: source, execArgv: typescriptArguments() };
  return { file: new URL(source.href.replace(/\.ts$/, ".js")), execArgv: [] };
}

/** Node 20 cannot read TypeScript by itself, and on it `--import tsx` is for the main thread only. */
function typescriptArguments(): string[] {
  if ((process.features as { typescript?: unknown }).typescript) return [];
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx"));
  const tsx = JSON.stringify(new URL("./esm/api/index.mjs", loader).href);
  return ["--import", `data:text/javascript,import { register } from ${tsx}; register();`];
}
