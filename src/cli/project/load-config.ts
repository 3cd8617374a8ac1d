import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { HttpConfig, PawlConfig } from "../../api/open/config.ts";
import { messageOf, PawlError } from "../../base/errors.ts";
import { optionNames } from "../../base/options.ts";
import type { AnyCrowd } from "../../definition/crowd.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import type { AnyQueue } from "../../definition/queue.ts";
import { quotedValue, suggest } from "../../definition/read/fault.ts";
import type { AnySchedule } from "../../definition/schedule/schedule.ts";
import { readFailure } from "../show/failure.ts";
import { importModule } from "./import-module.ts";

/** A config with its path. */
export interface LoadedConfig extends PawlConfig {
  readonly path: string;
}

const names = ["pawl.config.ts", "pawl.config.mts", "pawl.config.mjs", "pawl.config.js", "pawl.config.json"];
const keys = optionNames<PawlConfig>({
  lifecycles: true,
  schedules: true,
  queues: true,
  crowds: true,
  marketplaces: true,
  breakers: true,
  stuckAfter: true,
  outcomeTimeout: true,
  outbox: true,
  alerts: true,
  deadLetters: true,
  http: true,
  database: true,
  folder: true,
  seed: true,
});
const httpKeys = optionNames<HttpConfig>({ port: true, host: true, token: true, limits: true, mediaSources: true });

/** The config file: as named, else the nearest one from `cwd` upwards. */
export function findConfig(named: string | undefined, cwd: string): string | undefined {
  if (named !== undefined) {
    const path = resolve(cwd, named);
    if (existsSync(path)) return path;
    throw new PawlError("config_invalid", `Config file ${path} does not exist. Correct --config (or PAWL_CONFIG).`, {
      path,
    });
  }
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = names.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (found !== undefined || folder === dirname(folder)) return found;
  }
}

/** Reads a config and checks it; every fault is reported in words for its author. */
export async function loadConfig(path: string): Promise<LoadedConfig> {
  const given = path.endsWith(".json") ? readJson(path) : await importDefault(path);
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalid(path, `has ${quotedValue(given)} as its default export, not a config`, remedy);
  }
  const stray = Object.keys(given).find((key) => !keys.includes(key));
  if (stray !== undefined) throw invalid(path, `has an unknown key \`${stray}\``, suggest(stray, keys));
  const { lifecycles, schedules = [], queues = [], crowds = [] } = given as Record<string, unknown>;
  const { outbox, marketplaces, database, folder, seed } = given as Record<string, unknown>;
  if (!Array.isArray(lifecycles)) throw invalid(path, "has no array `lifecycles`", remedy);
  if (outbox !== undefined && (typeof outbox !== "object" || outbox === null || path.endsWith(".json"))) {
    throw invalid(
      path,
      "has an invalid `outbox`",
      "Write it in a .ts or .js config: outbox: { brokers: [rabbitmq({ … })] }.",
    );
  }
  if (marketplaces !== undefined && (typeof marketplaces !== "object" || path.endsWith(".json"))) {
    throw invalid(
      path,
      "has invalid `marketplaces`",
      "Write them in a .ts or .js config: marketplaces: { mturk: mturk({ … }) }.",
    );
  }
  const { alerts, deadLetters } = given as Record<string, unknown>;
  if (
    deadLetters !== undefined &&
    (typeof deadLetters !== "object" || deadLetters === null || path.endsWith(".json"))
  ) {
    throw invalid(
      path,
      "has invalid `deadLetters`",
      "Write them in a .ts or .js config: deadLetters: { archive: folderArchive(…) }.",
    );
  }
  if (alerts !== undefined && (!Array.isArray(alerts) || path.endsWith(".json"))) {
    throw invalid(path, "has invalid `alerts`", "Write them in a .ts or .js config: alerts: [webhookAlerts({ … })].");
  }
  if (!Array.isArray(schedules)) throw invalid(path, "has `schedules` that are not an array", "");
  if (!Array.isArray(queues)) throw invalid(path, "has `queues` that are not an array", "");
  if (!Array.isArray(crowds)) throw invalid(path, "has `crowds` that are not an array", "");
  if (folder !== undefined && typeof folder !== "string")
    throw invalid(path, "has a `folder` that is not a string", "");
  if (database !== undefined && typeof database !== "string" && (typeof database !== "object" || database === null))
    throw invalid(path, "has a `database` that is not a URL, connection options or a `pg.Pool`", "");
  await checkServing(path, (given as { http?: unknown }).http);
  if (seed !== undefined && typeof seed !== "function") throw invalid(path, "has a `seed` that is not a function", "");
  return {
    ...(given as PawlConfig),
    lifecycles: await declared<AnyLifecycle>(path, "lifecycle", lifecycles),
    schedules: await declared<AnySchedule>(path, "schedule", schedules),
    queues: await declared<AnyQueue>(path, "queue", queues),
    crowds: await declared<AnyCrowd>(path, "crowd", crowds),
    path,
  };
}

async function checkServing(path: string, http: unknown): Promise<void> {
  if (http === undefined || http === false) return;
  if (typeof http !== "object" || http === null || Array.isArray(http))
    throw invalid(path, "has an `http` that is not an object", "Write, for example, http: { port: 7295 }.");
  const stray = Object.keys(http).find((key) => !httpKeys.includes(key));
  if (stray !== undefined) throw invalid(path, `has an unknown key \`http.${stray}\``, suggest(stray, httpKeys));
  const { checkHttp } = await import("../../http/serve.ts");
  try {
    checkHttp(http);
  } catch (error) {
    throw invalid(path, "has an invalid `http`", messageOf(error));
  }
}

/**
 * The values of a config. JSON cannot contain lifecycles, schedules, queues and crowds: it names the files that export
 * them.
 */
async function declared<T>(path: string, kind: keyof typeof makers, listed: readonly unknown[]): Promise<T[]> {
  if (path.endsWith(".json")) return importNamed<T>(path, kind, listed);
  for (const [at, one] of listed.entries()) {
    if (isOf(kind, one)) continue;
    throw invalid(path, `has ${quotedValue(one)} as ${kind}s[${at}]`, `List the return values of ${makers[kind]}.`);
  }
  return [...listed] as T[];
}

const makers = { lifecycle: "lifecycle() and job()", schedule: "schedule()", queue: "queue()", crowd: "crowd()" };

const remedy = "End it with: export default defineConfig({ lifecycles: [essay] });";

async function importDefault(path: string): Promise<unknown> {
  const module = await importing(path, path);
  const given = module.default;
  // A CommonJS project wraps its exports once more.
  const isWrapped = typeof given === "object" && given !== null && "__esModule" in given;
  const found = isWrapped ? (given as { default?: unknown }).default : given;
  if (found === undefined) throw invalid(path, "has no default export", remedy);
  return found;
}

async function importNamed<T>(path: string, kind: keyof typeof makers, files: readonly unknown[]): Promise<T[]> {
  const found: T[] = [];
  for (const file of files) {
    if (typeof file !== "string")
      throw invalid(path, `lists ${quotedValue(file)}`, `List paths of files that export ${kind}s.`);
    const exported = Object.values(await importing(resolve(dirname(path), file), path)).filter((one) =>
      isOf(kind, one),
    );
    if (exported.length === 0) throw invalid(path, `lists ${file}, which exports no ${kind}`, "");
    found.push(...(exported as T[]));
  }
  return [...new Set(found)];
}

async function importing(file: string, config: string): Promise<Record<string, unknown>> {
  try {
    return await importModule(file);
  } catch (error) {
    const failure = readFailure(error);
    if (failure !== undefined) throw failure;
    const where = placeOf(error, dirname(config));
    const message = messageOf(error)
      .split("\n")
      .slice(0, 2)
      .join(" ")
      .replace(/[.\s]+$/, "");
    throw invalid(config, `could not be loaded${where}: ${message}`, "Run with --verbose for the stack trace.", error);
  }
}

/** The first line of the project itself in a stack. */
function placeOf(error: unknown, root: string): string {
  const frames = error instanceof Error ? (error.stack?.split("\n") ?? []) : [];
  for (const frame of frames) {
    const [, path = "", line] = /(?:file:\/\/)?(\/[^:()]+):(\d+)(?::\d+)?\)?$/.exec(frame) ?? [];
    if (path.startsWith(root) && !path.includes("/node_modules/")) return ` (${relative(root, path)}:${line})`;
  }
  return "";
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw invalid(path, `cannot be read: ${messageOf(error)}`, "");
  }
}

function isOf(kind: keyof typeof makers, value: unknown): boolean {
  return (value as { kind?: unknown } | null | undefined)?.kind === kind;
}

export function invalid(path: string, problem: string, remedy: string, cause?: unknown): PawlError {
  const message = `The config ${basename(path)} ${problem}. ${remedy}`.trimEnd();
  return new PawlError("config_invalid", message, { path }, { cause });
}
