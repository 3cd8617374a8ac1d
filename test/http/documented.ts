import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Hono } from "hono";
import { expect } from "vitest";

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly requestBody?: unknown;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Answered<Body> {
  readonly status: number;
  readonly body: Body;
}

/** Asks the API, and holds what is sent and every answer against the API's own document. */
export class Documented {
  /** The operations that were carried out. */
  readonly done = new Set<string>();
  readonly document: Document;
  readonly #app: Hono;
  readonly #ajv: Ajv2020;

  private constructor(app: Hono, document: Document) {
    this.#app = app;
    this.document = document;
    this.#ajv = new Ajv2020({ strict: false, allErrors: true });
    this.#ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    this.#ajv.addFormat("uuid", /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    this.#ajv.addSchema(document, "document");
  }

  /** Of an app that knows by itself who asks. */
  static async of(app: Hono): Promise<Documented> {
    const document = await app.request("/api/openapi.json");
    return new Documented(app, (await document.json()) as Document);
  }

  /** Every operation with its path and method. */
  get operations(): { readonly path: string; readonly method: string; readonly operation: Operation }[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  }

  get<Body = Record<string, unknown>>(path: string): Promise<Body> {
    return this.outside("get", `/api${path}`);
  }

  post<Body = Record<string, unknown>>(path: string, body?: unknown): Promise<Body> {
    return this.outside("post", `/api${path}`, body);
  }

  put<Body = Record<string, unknown>>(path: string, body?: unknown): Promise<Body> {
    return this.outside("put", `/api${path}`, body);
  }

  delete<Body = null>(path: string): Promise<Body> {
    return this.outside("delete", `/api${path}`);
  }

  /** Asks for what is refused: the answer is a problem, as documented. */
  async refused(method: string, path: string, body?: unknown): Promise<Answered<{ code: string; detail?: string }>> {
    const response = await this.#ask(method, `/api${path}`, body);
    const told = (await response.json()) as { code: string; detail?: string };
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    this.#check(this.#schema(["components", "schemas", "Problem"]), told, path);
    return { status: response.status, body: told };
  }

  /** The same for what is not below `/api`. */
  async outside<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Body> {
    const [template, operation] = this.#meant(method, path);
    if (body !== undefined)
      this.#check(this.#schema(["paths", template, method, "requestBody", ...json]), body, `${method} ${path}`);
    const response = await this.#ask(method, path, body);
    const answer = (await response.json()) as Body;
    expect(response.status, `${method} ${path}: ${JSON.stringify(answer)}`).toBe(200);
    this.#check(this.#schema(["paths", template, method, "responses", "200", ...json]), answer, `${method} ${path}`);
    this.done.add(operation.operationId);
    return answer;
  }

  async #ask(method: string, path: string, body: unknown): Promise<Response> {
    return this.#app.request(path, {
      method: method.toUpperCase(),
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  #meant(method: string, path: string): readonly [string, Operation] {
    const [place] = path.split("?");
    const found = Object.keys(this.document.paths)
      .filter((template) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(place!))
      .sort((one, other) => one.split("{").length - other.split("{").length);
    const template = found.find((one) => this.document.paths[one]![method] !== undefined);
    if (template === undefined) throw new Error(`No documented path is ${method} ${path}.`);
    return [template, this.document.paths[template]![method]!];
  }

  #schema(place: readonly string[]): ValidateFunction {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")));
    const ref = `document#/${pointer.join("/")}`;
    return this.#ajv.getSchema(ref) ?? this.#ajv.compile({ $ref: ref });
  }

  #check(validate: ValidateFunction, value: unknown, what: string): void {
    const isValid = validate(value);
    expect(isValid ? [] : validate.errors, `${what}: ${JSON.stringify(value).slice(0, 2_000)}`).toEqual([]);
  }
}

const json = ["content", "application/json", "schema"];
