import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { PawlConfig } from "../../api/open/config.ts";
import { messageOf, PawlError } from "../../base/errors.ts";
import { findConfig, type LoadedConfig, loadConfig } from "./load-config.ts";

type DatabaseLocation = NonNullable<PawlConfig["database"]>;

/** Flags that every command takes. */
export interface Flags {
  readonly config?: string;
  readonly folder?: string;
  readonly url?: string;
}

/** The settings of a command, from flags, `PAWL_*` variables, the config and the defaults, in this order. */
export interface Settings {
  readonly config: LoadedConfig | undefined;
  /** Where PostgreSQL is; undefined for the embedded database in `folder`. */
  readonly database: DatabaseLocation | undefined;
  readonly folder: string;
}

export async function loadSettings(flags: Flags, env: NodeJS.ProcessEnv, cwd: string): Promise<Settings> {
  const path = findConfig(flags.config ?? nonEmpty(env.PAWL_CONFIG), cwd);
  const config = path === undefined ? undefined : await loadConfig(path);
  const home = path === undefined ? cwd : dirname(path);
  const folder = flags.folder ?? nonEmpty(env.PAWL_FOLDER);
  return {
    config,
    database: flags.folder === undefined ? databaseOf(env, config) : undefined,
    folder: folder === undefined ? resolve(home, config?.folder ?? ".pawl") : resolve(cwd, folder),
  };
}

/** The same, for commands that make no sense without a config. */
export async function loadProject(
  flags: Flags,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<Settings & { config: LoadedConfig }> {
  const settings = await loadSettings(flags, env, cwd);
  return { ...settings, config: settings.config ?? missingConfig(cwd) };
}

export function missingConfig(cwd: string): never {
  throw new PawlError(
    "config_invalid",
    `No pawl.config.ts (or .mjs, .js, .json) found in ${cwd} or its parent folders. ` +
      "Create one, `export default defineConfig({ lifecycles: [essay] });`, or name it with --config.",
  );
}

/** A folder that a variable names outranks the general DATABASE_URL, which may be there for other programs. */
function databaseOf(env: NodeJS.ProcessEnv, config: LoadedConfig | undefined): DatabaseLocation | undefined {
  const own = secretOf(env, "PAWL_DATABASE_URL");
  if (own !== undefined || nonEmpty(env.PAWL_FOLDER) !== undefined) return own;
  return nonEmpty(env.DATABASE_URL) ?? (config?.database === "" ? undefined : config?.database);
}

/** Secrets are in files where others could read variables. */
function secretOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const path = nonEmpty(env[`${name}_FILE`]);
  if (nonEmpty(env[name]) !== undefined || path === undefined) return nonEmpty(env[name]);
  try {
    return nonEmpty(readFileSync(path, "utf8").trim());
  } catch (error) {
    throw new PawlError("config_invalid", `${name}_FILE cannot be read: ${messageOf(error)}.`);
  }
}

/** The URL of a Pawl over HTTP, if given, and its token, which is never a flag. */
export function remoteOf(
  flags: Flags,
  env: NodeJS.ProcessEnv,
): { readonly url: string; readonly token: string | undefined } | undefined {
  const named = flags.url ?? (flags.folder === undefined ? nonEmpty(env.PAWL_URL) : undefined);
  if (named === undefined) return undefined;
  return { url: checkedUrl(named), token: secretOf(env, "PAWL_TOKEN") };
}

/** Where a console and an API are, without a stroke at its end, as a path follows. */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.search === "" &&
    url.hash === "" &&
    url.username === ""
  )
    return url.href.replace(/\/$/, "");
  throw new PawlError(
    "option_invalid",
    `${JSON.stringify(text)} is not a URL of Pawl's HTTP API; write one such as http://127.0.0.1:7295.`,
  );
}

export function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** A location without its secrets: `host:5432/name`. */
export function shownLocation(location: DatabaseLocation): string {
  const url = typeof location === "string" ? location : "url" in location ? location.url : undefined;
  const [, , hosts = "", path = ""] = /^[a-z]+:\/\/([^@/?]*@)?([^/?]*)(\/[^?]*)?/i.exec(url ?? "") ?? [];
  if (url !== undefined) return `${hosts || "localhost"}${path}`;
  const { host, port, database } = (
    typeof location === "object" && "options" in location ? location.options : location
  ) as { readonly host?: string; readonly port?: number; readonly database?: string };
  return host === undefined ? "PostgreSQL" : `${host}${port === undefined ? "" : `:${port}`}/${database ?? ""}`;
}
