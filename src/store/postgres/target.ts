import type { ConnectionOptions } from "node:tls";
import pg from "pg";
import { PawlError } from "../../base/errors.ts";
import { checkedOptions } from "../../base/options.ts";
import type { DatabaseLocation, DatabaseOptions, DatabasePool } from "../port/location.ts";

/** Connection settings besides the URL, in the names of `pg`. */
export interface ConnectionSettings {
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly database?: string;
  readonly password?: string | (() => string | Promise<string>);
  readonly ssl?: boolean | ConnectionOptions;
  /** Opens the socket; connectors of cloud providers bring one. */
  readonly stream?: unknown;
}

/** Which servers to connect to, and how to sign in. */
export interface PostgresTarget {
  /** One URL for each host, in the order in which they are tried; `undefined` if `settings` name the host. */
  readonly urls: readonly (string | undefined)[];
  readonly settings: ConnectionSettings;
  /** Server settings for each connection (`options` in the URL). They are applied before Pawl's own. */
  readonly startup: string;
}

const optionNames = [
  "url",
  "host",
  "port",
  "user",
  "database",
  "password",
  "ssl",
] as const satisfies readonly (keyof DatabaseOptions)[];
/** Those of a URL that would override `ssl`. */
const sslParameters = ["ssl", "sslmode", "sslcert", "sslkey", "sslrootcert", "uselibpqcompat"];

/** Reads a location; throws `option_invalid` if it is not a valid target. */
export function targetOf(location: DatabaseLocation): PostgresTarget {
  if (typeof location === "string") return targetOfUrl(location, {});
  if (isPool(location)) return targetOfPool(location);
  return targetOfOptions(location);
}

function targetOfUrl(given: string, settings: ConnectionSettings): PostgresTarget {
  if (!/^postgres(?:ql)?:\/\//i.test(given)) {
    throw invalid(
      "`database` must be a URL such as postgres://user:password@host:5432/name; for the embedded database, leave it out and set `folder`.",
    );
  }
  const urls = urlsOf(given);
  const [first] = urls;
  checkReadable(first!);
  const startup = parametersOf(first!).get("options") ?? "";
  const stray = [...(startup === "" ? [] : ["options"]), ...(settings.ssl === undefined ? [] : sslParameters)];
  return { urls: urls.map((url) => withoutParameters(url, stray)), settings, startup };
}

function targetOfOptions(given: DatabaseOptions): PostgresTarget {
  const { url, ...settings } = checkedOptions(given, optionNames, "database");
  if (url === undefined && settings.host === undefined) {
    throw invalid("`database` needs a `url` or a `host`, in addition to its other options.");
  }
  for (const name of ["url", "host", "user", "database"] as const) checkText(given[name], name);
  const { port, password, ssl } = settings;
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535))
    throw invalid("`database.port` must be a whole number from 1 to 65,535.");
  if (password !== undefined && typeof password !== "string" && typeof password !== "function")
    throw invalid("`database.password` must be a string, or a function that returns one.");
  if (ssl !== undefined && typeof ssl !== "boolean" && (typeof ssl !== "object" || ssl === null))
    throw invalid("`database.ssl` must be true, false, or options of `tls.connect`.");
  const named = (["host", "port", "user", "database"] as const).filter((name) => settings[name] !== undefined);
  if (url !== undefined && named.length > 0)
    throw invalid(`\`database\` has a \`url\` and \`${named[0]}\`, which the URL contains, too. Omit one of them.`);
  return url === undefined
    ? { urls: [undefined], settings: copied(settings), startup: "" }
    : targetOfUrl(url, copied(settings));
}

/** A pool's settings without what makes it a pool: Pawl's connections are its own, see ADR 24. */
function targetOfPool(pool: DatabasePool): PostgresTarget {
  const { connectionString, host, port, user, database, password, ssl, stream, options } = pool.options as Partial<
    pg.PoolConfig & { stream: unknown }
  >;
  const settings = copied({ host, port, user, database, password, ssl, stream } as ConnectionSettings);
  const target =
    connectionString === undefined
      ? { urls: [undefined], settings, startup: "" }
      : targetOfUrl(connectionString, settings);
  return { ...target, startup: `${target.startup} ${options ?? ""}`.trim() };
}

/** Without undefined values, and with the key of TLS, which `pg` hides from copies. */
function copied(settings: ConnectionSettings): ConnectionSettings {
  const { ssl, ...rest } = settings;
  const set = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  if (typeof ssl !== "object") return ssl === undefined ? set : { ...set, ssl };
  return { ...set, ssl: ssl.key === undefined ? { ...ssl } : { ...ssl, key: ssl.key } };
}

function isPool(location: DatabaseOptions | DatabasePool): location is DatabasePool {
  return (
    typeof location === "object" &&
    location !== null &&
    "connect" in location &&
    "totalCount" in location &&
    typeof location.options === "object"
  );
}

/**
 * One URL per host of `postgres://a:5432,b:5432/name` or `postgres:///name?host=a,b`, which the driver cannot read.
 * Pawl writes, so of several servers it always uses the primary.
 */
function urlsOf(given: string): readonly string[] {
  const parameters = parametersOf(given);
  const wanted = parameters.get("target_session_attrs") ?? "read-write";
  if (!["any", "read-write", "primary"].includes(wanted)) {
    throw invalid(
      `The database URL has target_session_attrs=${wanted}, but Pawl needs a server that takes writes. Write read-write, or leave it out.`,
    );
  }
  const url = withoutParameters(given, ["target_session_attrs"]);
  const [, before, authority, after] = /^([a-z]+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/i.exec(url)!;
  const named = parameters.get("host");
  if (named !== null) {
    const ports = (parameters.get("port") ?? "").split(",");
    const rest = withoutParameters(url, ["host", "port"]);
    const separator = rest.includes("?") ? "&" : "?";
    return named.split(",").map((host, index) => {
      const port = ports.length > 1 ? ports[index] : ports[0];
      return `${rest}${separator}host=${encodeURIComponent(host)}${port ? `&port=${port}` : ""}`;
    });
  }
  return authority!.split(",").map((host) => `${before}${host}${after}`);
}

function parametersOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split("?", 2)[1] ?? "");
}

function withoutParameters(url: string, names: readonly string[]): string {
  const [address, query] = url.split("?", 2);
  if (query === undefined) return url;
  // Part by part: rewriting all of them could change how the others are escaped.
  const kept = query.split("&").filter((piece) => !names.includes(piece.split("=", 1)[0]!));
  return kept.length === 0 ? address! : `${address}?${kept.join("&")}`;
}

/** The message does not quote the URL, which may contain the password. */
function checkReadable(url: string): void {
  try {
    new pg.Client({ connectionString: url });
  } catch {
    throw invalid(
      "The database URL cannot be read. It is written postgres://user:password@host:5432/name, with %-codes for signs such as @, / and # in the password.",
    );
  }
}

function checkText(given: unknown, name: string): void {
  if (given !== undefined && (typeof given !== "string" || given === ""))
    throw invalid(`\`database.${name}\` must be a string that is not empty.`);
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
