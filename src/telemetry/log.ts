import type { LoggerOptions } from "pino";
import { isPawlError, messageOf } from "../base/errors.ts";
import { guardListener } from "../base/guard.ts";

/** Where Pawl writes what happens: a pino logger, or anything that takes fields and a sentence. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The options of pino, without its types, which need those of Node. Those of its `LoggerOptions` fit. */
export interface LogOptions {
  readonly name?: string | undefined;
  /** @default "warn" */
  readonly level?: string | undefined;
  readonly enabled?: boolean;
  readonly base?: object | null;
  readonly timestamp?: (() => string) | boolean;
  readonly messageKey?: string;
  readonly errorKey?: string;
  readonly nestedKey?: string;
  readonly msgPrefix?: string;
  readonly redact?: string[] | { paths: string[]; censor?: unknown; remove?: boolean };
  // biome-ignore lint/suspicious/noExplicitAny: a value of any log line.
  readonly serializers?: { [name: string]: (value: any) => any };
  readonly formatters?: {
    level?(label: string, number: number): object;
    // biome-ignore lint/suspicious/noExplicitAny: as pino has it.
    bindings?(bindings: Record<string, any>): object;
    log?(fields: Record<string, unknown>): Record<string, unknown>;
  };
  readonly mixin?: (fields: object, level: number) => object;
  readonly customLevels?: object;
  readonly useOnlyCustomLevels?: boolean;
  readonly hooks?: object;
  readonly transport?: object;
  readonly depthLimit?: number;
  readonly edgeLimit?: number;
  readonly safe?: boolean;
  readonly crlf?: boolean;
}

/** A logger of one's own, options for pino, or `false` for silence. */
export type LogOption = Log | LogOptions | false | undefined;

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * The default logger: warnings and errors as JSON on stderr, apart from a program's own output. Neither data nor
 * payloads are logged, here or anywhere; a step's own `step.log` writes what it is given.
 */
export async function makeLog(given: LogOption): Promise<Log> {
  if (given === false) return silent;
  if (isLog(given)) return guardLog(given);
  const { pino } = await import("pino");
  const options = { name: "pawl", level: "warn", ...given } as LoggerOptions;
  // A custom transport has a destination of its own.
  const hasTransport = options.transport !== undefined;
  // Its options may hold functions: serializers, a mixin.
  return guardLog(hasTransport ? pino(options) : pino(options, pino.destination({ dest: 2, sync: true })));
}

/** A logger cannot harm the code that logs. Its errors are dropped: there is no other place to report them. */
function guardLog(log: Log): Log {
  const guarded = (level: keyof Log) =>
    guardListener(
      (fields: object, message: string) => log[level](fields, message),
      () => {},
    );
  return { debug: guarded("debug"), info: guarded("info"), warn: guarded("warn"), error: guarded("error") };
}

export function isLog(given: unknown): given is Log {
  const methods = ["debug", "info", "warn", "error"];
  return methods.every((name) => typeof (given as Record<string, unknown> | null | undefined)?.[name] === "function");
}

/** An error for a log, without its details, which may contain user data. */
export function errorFields(error: unknown): { err: { type: string; message: string; code?: string; stack?: string } } {
  const message = messageOf(error);
  if (isPawlError(error)) return { err: namedError({ type: error.name, message, code: error.code }) };
  if (!(error instanceof Error)) return { err: namedError({ type: typeof error, message }) };
  try {
    return { err: namedError({ type: String(error.name), message, stack: String(error.stack) }) };
  } catch {
    return { err: namedError({ type: "Error", message }) }; // Its name or stack is a getter that throws.
  }
}

/** pino uses the constructor of `err` as its type, so a plain object would be logged as "Object". */
function namedError<Fields extends { readonly type: string }>(fields: Fields): Fields {
  const named = Object.assign(Object.create(null) as object, fields);
  return Object.defineProperty(named, "name", { value: fields.type });
}

/** Logs an error that stopped nothing: a transient one as a warning, any other as an error. */
export function logFailure(log: Log, error: unknown): void {
  const passes = isPawlError(error) && (error.fault === "environment" || error.code === "lease_lost");
  log[passes ? "warn" : "error"](errorFields(error), messageOf(error));
}

/** Logs a failure, then passes it to the user's own listener; what that one throws is logged, too. */
export function failureListener(
  log: Log | undefined,
  listener: ((error: unknown) => unknown) | undefined,
): (error: unknown) => void {
  const write = (error: unknown): void => {
    if (log !== undefined) logFailure(log, error);
  };
  const guarded = guardListener(listener, write);
  return (error) => {
    write(error);
    guarded(error);
  };
}
