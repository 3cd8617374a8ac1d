import { messageOf, PawlError } from "../base/errors.ts";
import { list, suggest } from "../definition/read/fault.ts";

/** The longest request that is read. */
export const maxRequestBytes = 1024 * 1024;

/** What a client asks for. The id comes back with the answer. */
export interface Request {
  readonly id: string | number | null;
  readonly verb: string;
  readonly args: ReadonlyMap<string, unknown>;
}

/** Reads one request, `{ "id": 1, "verb": "get", "args": { … } }`; throws `option_invalid` for anything else. */
export function parseRequest(text: string): Request {
  const given = parseJson(text);
  if (!isRecord(given)) throw invalid("A request is a JSON object such as { id, verb, args }.");
  const { id = null, verb, args = {} } = given;
  if (id !== null && typeof id !== "string" && typeof id !== "number")
    throw invalid("`id` must be a text or a number.");
  if (typeof verb !== "string") throw invalid("`verb` must be a text, such as `find`.");
  if (!isRecord(args)) throw invalid("`args` must be an object.");
  return { id, verb, args: new Map(Object.entries(args)) };
}

/** Reads the body of a request: a JSON object, as names and values. */
export function parseObject(text: string): ReadonlyMap<string, unknown> {
  const given = parseJson(text);
  if (!isRecord(given)) throw invalid("The body must be a JSON object.");
  return new Map(Object.entries(given));
}

/** The id in a line that is otherwise unusable, so that its sender hears of it. */
export function idIn(text: string): Request["id"] {
  try {
    const { id } = JSON.parse(text) as { id?: unknown };
    return typeof id === "string" || typeof id === "number" ? id : null;
  } catch {
    return null;
  }
}

/** JSON without the one key that could change the objects of a reader. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (key, value) => {
      if (key === "__proto__") throw invalid("`__proto__` is a key that could change the objects of a reader.");
      return value;
    });
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw invalid(`The request is not JSON: ${messageOf(error)}.`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}

/** The arguments of one request, read by name and kind. */
export class Arguments {
  readonly #verb: string;
  readonly #given: ReadonlyMap<string, unknown>;

  /** Refuses names that the verb does not take: a misspelt filter must not list everything. */
  constructor(verb: string, given: ReadonlyMap<string, unknown>, takes: readonly string[]) {
    this.#verb = verb;
    this.#given = given;
    for (const name of given.keys()) {
      if (takes.includes(name)) continue;
      const remedy = takes.length === 0 ? "It takes none." : suggest(name, takes);
      throw invalid(`\`${verb}\` has no argument ${list([name])}. ${remedy}`);
    }
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  /** As it was given; null counts as left out. */
  value(name: string): unknown {
    return this.#given.get(name) ?? undefined;
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw invalid(`\`${this.#verb}\` needs \`${name}\`.`);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.value(name);
    return value === undefined || typeof value === "string" ? value : this.#refuse(name, "a text");
  }

  texts(name: string): string[] | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const all = [value].flat();
    return all.every((one) => typeof one === "string") ? all : this.#refuse(name, "a text or a list of texts");
  }

  number(name: string): number | undefined {
    const value = this.value(name);
    return value === undefined || typeof value === "number" ? value : this.#refuse(name, "a number");
  }

  flag(name: string): boolean {
    const value = this.value(name) ?? false;
    return typeof value === "boolean" ? value : this.#refuse(name, "true or false");
  }

  moment(name: string): Date | undefined {
    const text = this.optionalText(name);
    if (text === undefined) return undefined;
    const moment = new Date(text);
    // The database knows other first and last days than JavaScript does; nobody means either.
    const isUsual = moment.getUTCFullYear() >= 1 && moment.getUTCFullYear() <= 9999;
    return !isUsual ? this.#refuse(name, "a moment such as 2026-01-31T12:00:00Z") : moment;
  }

  #refuse(name: string, wanted: string): never {
    throw invalid(`\`${name}\` of \`${this.#verb}\` must be ${wanted}.`);
  }
}
