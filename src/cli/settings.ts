import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf, PawlError } from "../base/errors.ts";
import { findConfig, type LoadedConfig, loadConfig } from "./load-config.ts";

/** Flags that every command takes. */
export interface Flags {
  readonly config?: string;
  readonly folder?: string;
}

/** What a command works with, once flags, `PAWL_*` variables, the config and the defaults were heard, in that order. */
export interface Settings {
  readonly config: LoadedConfig | undefined;
  /** A PostgreSQL URL; undefined for the embedded database in `folder`. */
  readonly database: string | undefined;
  readonly folder: string;
}

export async function loadSettings(flags: Flags, env: NodeJS.ProcessEnv, cwd: string): Promise<Settings> {
  const path = findConfig(flags.config ?? given(env.PAWL_CONFIG), cwd);
  const config = path === undefined ? undefined : await loadConfig(path);
  const home = path === undefined ? cwd : dirname(path);
  const folder = flags.folder ?? given(env.PAWL_FOLDER);
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
    `There is no pawl.config.ts (or .mjs, .js, .json) in ${cwd} or above it. ` +
      "Write one, `export default defineConfig({ lifecycles: [essay] });`, or name it with --config.",
  );
}

/** A folder that a variable names outranks the general DATABASE_URL, which may be there for other programs. */
function databaseOf(env: NodeJS.ProcessEnv, config: LoadedConfig | undefined): string | undefined {
  const own = given(env.PAWL_DATABASE_URL) ?? fromFile(env.PAWL_DATABASE_URL_FILE);
  if (own !== undefined || given(env.PAWL_FOLDER) !== undefined) return own;
  return given(env.DATABASE_URL) ?? given(config?.database);
}

/** Secrets come in files where variables could be read by others. */
function fromFile(path: string | undefined): string | undefined {
  if (given(path) === undefined) return undefined;
  try {
    return given(readFileSync(path!, "utf8").trim());
  } catch (error) {
    throw new PawlError("config_invalid", `PAWL_DATABASE_URL_FILE cannot be read: ${messageOf(error)}.`);
  }
}

export function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** A database URL without its secrets. */
export function shownUrl(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname || "localhost"}${port === "" ? "" : `:${port}`}${pathname}`;
  } catch {
    return "PostgreSQL";
  }
}
