import { namesIn, type Route, rightsFor } from "../../src/http/api/route.ts";
import type { Schema } from "../../src/http/api/schema.ts";
import { otherOperations } from "../../src/http/routes/other-operations.ts";
import { routes } from "../../src/http/routes/routes.ts";
import type { Random } from "../faults/harm/random.ts";

/** What a request names that exists: values by the name of a parameter, and ids of every kind. */
export interface Targets {
  readonly named: Readonly<Record<string, unknown>>;
  readonly ids: readonly string[];
  /** The ids that a path beginning with this word can name. */
  readonly idsAt: Readonly<Record<string, readonly string[]>>;
}

export interface HostileRequest {
  readonly path: string;
  readonly init: RequestInit;
  /** The rights of which one is needed; undefined where the path or the method leads to another route, or to none. */
  readonly needs: readonly string[] | undefined;
}

/** A JSON value that `JSON.stringify` cannot write, as it is sent. */
const rawValues: Readonly<Record<string, string>> = {
  '"@@infinite@@"': "1e999",
  '"@@proto@@"': '"__proto__"',
  '"@@deep@@"': `${"[".repeat(9_000)}${"]".repeat(9_000)}`,
  '"@@then@@"': '"then"',
  '"@@minus@@"': "-0",
  '"@@long@@"': "1".repeat(400),
};

const nilId = "00000000-0000-0000-0000-000000000000";
const texts: readonly string[] = [
  ...[
    "",
    " ",
    ".",
    "..",
    "*",
    "%",
    "_",
    "\\",
    "'",
    '"',
    "`",
    "$1",
    "null",
    "undefined",
    "NaN",
    "true",
    "[]",
    "{}",
    "-0",
  ],
  ...["' or 1=1 --", "'; drop table pawl.journal; --", "1); delete from pawl.instances; --", "\\'; select pg_sleep(9)"],
  ...["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "javascript:alert(1)", "{{7*7}}", "#{7*7}"],
  ...["../../../etc/passwd", "..\\..\\boot.ini", "/etc/passwd", "file:///etc/passwd", "a/b", "a?b#c", "a%2Fb", "%00"],
  ...["\u0000", "a\u0000b", "\ud800", "a\udfffb", "\u202eabc", "\ufeff", "\u2028", "e\u0301", "ß".repeat(400)],
  ...["😀".repeat(200), "x".repeat(501), "x".repeat(20_000), "\r\nSet-Cookie: pawl_session=x", "@@infinite@@", "1e999"],
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then", "length"],
  ...["-271821-04-20T00:00:00Z", "-271821-04-19T23:59:59Z", "+275760-09-13T00:00:00.001Z", "0000-01-01T00:00:00Z"],
  ...["2026-02-30T25:61:61Z", "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "infinity", "now", "today", "1"],
  ...["99999999999d", "-1s", "1e309ms", "0s", "1ms", "P1Y", "10m; drop", "36500d"],
  ...[
    nilId,
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    `${nilId}'`,
    `{${nilId}}`,
    nilId.replaceAll("-", ""),
    `${nilId}\n`,
  ],
  ...[
    "pawl_sample",
    "pawl_assignment",
    "pawl_crowd",
    "pawl_",
    "PAWL_SAMPLE",
    "essay@1/written",
    "essay:after",
    "essay",
  ],
  ...["graded", "fail", "recover", "restart", "discard", "answered", "submit", "reopen", "notice", "admin", "labeler"],
  ...["bob", "the-admin", "the-labeler", "the-labeler ", "THE-LABELER", "open", "closed", "failed", "mail", "pictures"],
];

const numbers: readonly unknown[] = [
  ...[0, -1, 1, 1.5, 1e-320, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63, 1e308, -1e308, 1001],
  ...["@@infinite@@", "@@minus@@", "@@long@@"],
];

function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const structures: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    [],
    {},
    [[]],
    [null],
    [{}],
    [""],
    [0],
    { a: null },
    { "": 0 },
    { "a\u0000b": 1 },
    { "\ud800": 1 },
  ],
  ...[
    { "@@proto@@": { role: "admin" } },
    { constructor: { prototype: { role: "admin" } } },
    { toString: 1, valueOf: 1 },
  ],
  ...[{ toJSON: "x" }, { "@@then@@": "x" }, { length: 2 ** 32 }, { $ref: "#/x" }, { type: "object", properties: null }],
  ...[
    { message: 1 },
    { message: "\u0000" },
    { message: "x", code: {}, name: [] },
    { label: { type: "string", pattern: "(" } },
  ],
  ...[nested(60), nested(1_500), "@@deep@@", new Array(3_000).fill("x"), { text: "x".repeat(900_000) }],
  Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, index])),
];

const bodies: readonly string[] = [
  ...["", " ", "null", "[]", "0", '"x"', "{", "}", '{"a":1,}', "{'a':1}", '\ufeff{"a":1}', "\u0000", "NaN", "{}{}"],
  ...[
    '{"__proto__":{"role":"admin"}}',
    '{"constructor":1}',
    '{"data":1e999}',
    '{"data":"\\ud800"}',
    '{"data":"\\u0000"}',
  ],
  ...[
    '{"a":1,"a":2}',
    `{"data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    `{"data":"${"x".repeat(2 * 1024 * 1024)}"}`,
  ],
  ...["a=1&b=2", "<xml/>", "[".repeat(500_000), '{"data":"\xff\xfe"}', '{"actor":"the-admin"}', '{"labeler":"bob"}'],
];

const headerValues: Readonly<Record<string, readonly string[]>> = {
  "content-type": [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=utf-7",
    "multipart/form-data",
    "",
    "application/jsonp",
    "application/problem+json",
  ],
  "content-encoding": ["gzip", "br", "identity"],
  "content-length": ["0", "-1", "99999999999", "x"],
  "idempotency-key": ["", " ", "x".repeat(501), "x".repeat(9_000), "'; --", "\xff", "the same", "."],
  cookie: [
    "pawl_session=x",
    "pawl_session=",
    "__Host-pawl_session='; --",
    "pawl_session=%00",
    "=",
    ";;;",
    `pawl_session=pawl_${"A".repeat(43)}`,
  ],
  origin: ["https://evil.example", "null", "", "http://localhost.evil.example"],
  "sec-fetch-site": ["cross-site", "same-site", "none", "x"],
  "x-forwarded-proto": ["https", "gopher", "https, http"],
  "x-forwarded-for": ["127.0.0.1", "' or 1=1"],
  host: ["evil.example", "[::1", ""],
  "x-http-method-override": ["DELETE"],
  range: ["bytes=0-99999999999"],
  accept: ["text/html", "*/*;q=x"],
  authorization: [
    "",
    "Bearer",
    "Bearer ",
    "Bearer x",
    "Basic YTpi",
    `Bearer pawl_${"A".repeat(43)}`,
    "bearer '; --",
    `Bearer ${"x".repeat(8_000)}`,
  ],
};

const oddPaths: readonly string[] = [
  ...[
    "/api",
    "/api/",
    "//api/overview",
    "/api//overview",
    "/api/overview/",
    "/API/overview",
    "/api/%6fverview",
    "/api/%zz",
  ],
  ...[
    "/api/..%2f..%2fetc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/assets/../../package.json",
    "/assets/%00",
    "/docs/..%5c",
  ],
  ...[
    "/callbacks",
    "/callbacks/",
    "/callbacks/x",
    "/callbacks/%00",
    "/callbacks/%ED%A0%80",
    `/callbacks/${"x".repeat(8_000)}`,
  ],
  ...[
    "/sign-in/x",
    "/sign-in/%00",
    "/sign-in/%ff",
    "/metrics",
    "/ready",
    "/health",
    "/api/openapi.json",
    "/api/live?instance=x",
  ],
  ...[
    `/api/live?instance=${nilId}`,
    "/api/session",
    `/api/search?text=${"x".repeat(50_000)}`,
    "/",
    "/desk",
    "/instances/x",
  ],
];

const oddSegments: readonly string[] = [
  "%",
  "%zz",
  "%c0%ae",
  "%ED%A0%80",
  "%00",
  "%2e%2e",
  "..;",
  "a%2Fb",
  "%F0%9F",
  "x".repeat(9_000),
];

/** One request that no well-behaved client sends, for a route and a caller; the same for the same random numbers. */
export function hostileRequest(random: Random, targets: Targets, bearer: string | undefined): HostileRequest {
  const isOneIn = (count: number) => random.below(count) === 0;
  const text = () => random.pick(isOneIn(4) ? targets.ids : texts);
  const value = (): unknown => [text, () => random.pick(numbers), () => random.pick(structures)][random.below(3)]!();

  /** Of the right kind but hostile inside, so that it passes the first check. */
  const fitting = (schema: Schema): unknown => {
    const kind = [schema.type].flat()[0];
    if (schema.enum !== undefined) return random.pick(schema.enum);
    if (kind === "string") return text();
    if (kind === "integer" || kind === "number") return random.pick(numbers);
    if (kind === "boolean") return isOneIn(2);
    if (kind === "array") return Array.from({ length: random.below(4) }, () => fitting(schema.items ?? {}));
    if (kind !== "object") return value();
    const own = Object.entries(schema.properties ?? {}).filter(() => !isOneIn(4));
    if (own.length > 0)
      return Object.fromEntries(own.map(([name, one]) => [name, isOneIn(3) ? value() : fitting(one)]));
    return isOneIn(2) ? { [text()]: value() } : random.pick(structures);
  };
  /** What a well-behaved client sends. */
  const plain = (name: string, schema: Schema): unknown =>
    schema.enum?.[0] ??
    targets.named[name] ??
    { object: {}, array: [], boolean: true, integer: 1, number: 1 }[String([schema.type].flat()[0])] ??
    (schema.format === "date-time"
      ? "2026-01-31T12:00:00Z"
      : schema.format === "uuid"
        ? random.pick(targets.ids)
        : "1m");

  const route: Route | undefined = isOneIn(12) ? undefined : random.pick(routes);
  const place = route?.path.split("/")[1] ?? "";
  const names = [...namesIn(route?.path ?? ""), ...Object.keys(route?.takes ?? {})];
  // Most are hostile in one place only: with more, the first check refuses them and no other is reached.
  const only = isOneIn(3) || names.length === 0 ? undefined : random.pick(names);
  const isHostile = (name: string, oneIn: number) => (only === undefined ? isOneIn(oneIn) : only === name);
  const argument = (name: string, schema: Schema): unknown =>
    !isHostile(name, 2) ? plain(name, schema) : isOneIn(4) ? value() : fitting(schema);

  const segment = (name: string): { sent: string; meant: string | undefined } => {
    if (isHostile(name, 3) && isOneIn(6)) return { sent: random.pick(oddSegments), meant: undefined };
    const meant = isHostile(name, 3)
      ? text()
      : name === "id"
        ? random.pick((isOneIn(4) ? undefined : targets.idsAt[place]) ?? targets.ids)
        : String(targets.named[name] ?? text());
    // What a URL cannot carry, or resolves, leads elsewhere.
    if (meant === "" || meant === "." || meant === ".." || !meant.isWellFormed())
      return { sent: "%ED%A0%80", meant: undefined };
    return { sent: encodeURIComponent(meant), meant };
  };

  const segments = new Map(namesIn(route?.path ?? "").map((name) => [name, segment(name)]));
  const other = random.pick(otherOperations);
  const ownPath =
    route === undefined
      ? isOneIn(3)
        ? other.path.replaceAll(/\{\w+\}/g, () => segment("token").sent)
        : random.pick(oddPaths)
      : `/api${route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segments.get(name)!.sent)}`;

  const ownMethod = (route?.method ?? other.method).toUpperCase();
  const method = isOneIn(20)
    ? random.pick(["PATCH", "OPTIONS", "HEAD", "PROPFIND", "BREW", "POST", "DELETE", "GET", "PUT"])
    : ownMethod;
  const takes = Object.entries(route?.takes ?? {}).filter(
    ([name]) => route?.needs?.includes(name) || only === name || !isOneIn(only === undefined ? 3 : 2),
  );
  const given = takes.map(([name, schema]) => [name, argument(name, schema)] as [string, unknown]);
  if (isOneIn(8))
    given.push([
      random.pick(["actor", "labeler", "idempotencyKey", "dedupeKey", "id", "@@proto@@", "constructor", "role", "x"]),
      value(),
    ]);

  const headers = new Headers({ "content-type": "application/json" });
  if (bearer !== undefined) headers.set("authorization", `Bearer ${bearer}`);
  for (const [name, values] of Object.entries(headerValues))
    if (isOneIn(name === "content-type" || name === "authorization" ? 40 : 16)) headers.set(name, random.pick(values));

  const isRead = method === "GET" || method === "HEAD";
  const body = isOneIn(10) ? random.pick(bodies) : written(Object.fromEntries(given));
  const query = isRead ? queryOf(random, given, route?.waits === true) : isOneIn(20) ? "?actor=the-admin" : "";
  const isOwn =
    route !== undefined && method === ownMethod && [...segments.values()].every(({ meant }) => meant !== undefined);
  return {
    path: ownPath.includes("?") ? ownPath : `${ownPath}${query}`,
    init: { method, headers, ...(isRead ? {} : { body }) },
    needs: isOwn ? rightsFor(route, (name) => segments.get(name)?.meant) : undefined,
  };
}

function written(value: unknown): string {
  return Object.entries(rawValues).reduce((text, [mark, raw]) => text.replaceAll(mark, raw), JSON.stringify(value));
}

function queryOf(random: Random, given: readonly (readonly [string, unknown])[], waits: boolean): string {
  // What waits as long as it may would only make the test wait, too.
  const named = given.filter(([name]) => !waits || name !== "timeout");
  const pairs = named.map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : written(value).slice(0, 4_000),
  ]);
  if (waits) pairs.push(["timeout", random.pick(["1ms", "1ms", "0s", "-1s", "soon", "1e309ms", ""])]);
  if (random.below(10) === 0 && pairs.length > 0) pairs.push(pairs[0]!);
  return `?${new URLSearchParams(pairs)}`;
}
