import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const root = new URL("../../../", import.meta.url);

/** A file for a thread: the JavaScript made of it in the package and where tests have made some, else its source. */
export function threadFile(source: URL): { file: URL; execArgv: string[] } {
  const script = source.href.replace(/\.ts$/, ".js");
  if (!import.meta.url.endsWith(".ts")) return { file: new URL(script), execArgv: [] };
  const compiled = process.env.PAWL_COMPILED;
  if (compiled === undefined) return { file: source, execArgv: typescriptArguments() };
  return { file: new URL(script.slice(root.href.length), pathToFileURL(`${compiled}/`)), execArgv: [] };
}

/** Node 20 cannot run TypeScript by itself, and there `--import tsx` applies to the main thread only. */
function typescriptArguments(): string[] {
  if ((process.features as { typescript?: unknown }).typescript) return [];
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx"));
  const tsx = JSON.stringify(new URL("./esm/api/index.mjs", loader).href);
  return ["--import", `data:text/javascript,import { register } from ${tsx}; register();`];
}
