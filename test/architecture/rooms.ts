/** Features that stand on the kernel: each has its verbs, its SQL and its views in one folder. */
export const slices = ["schedules", "outbox", "alerts", "operations", "dead-letters", "people", "crowd", "access"];
const engine = ["base", "definition", "policy", "store", "views", "telemetry", "kernel", "worker", "maintenance"];
const behind = [...engine, ...slices, "inspect"];

/** What every slice on the kernel may know: the port to the database, and the types of the kernel's own tables. */
const slice = ["base", "definition", "policy", "telemetry", "views", "kernel", "store/port", "type store"];
const loop = ["base", "policy", "telemetry", "kernel", "type definition", "type store/port"];

/**
 * The rooms of `src/` in their order, what each may import, and what a line in it does. An entry is a room, a folder in
 * one or a file; `type …` means that only its types may be imported. A slice has its SQL in folders of its own, `store/`
 * and `views/`, which no other slice may import.
 */
export const rooms: Readonly<Record<string, { readonly may: readonly string[]; readonly lines: string }>> = {
  base: { may: [], lines: "names an error, an id, a length of time or a JSON value" },
  definition: { may: ["base"], lines: "computes what a lifecycle is or decides" },
  policy: { may: ["base", "definition"], lines: "computes when to retry, trip or expire" },
  store: { may: ["base"], lines: "locks or writes a row" },
  views: { may: ["base", "store"], lines: "only shows rows" },
  telemetry: { may: ["base"], lines: "counts, times or logs what happens" },
  kernel: {
    may: ["base", "definition", "policy", "store", "views", "telemetry"],
    lines: "touches a row or decides about one",
  },
  worker: { may: loop, lines: "claims and runs a task" },
  schedules: { may: slice, lines: "starts instances by the clock" },
  maintenance: { may: [...loop, "worker", "schedules"], lines: "waits for what is due or lost" },
  outbox: { may: [...slice, "worker", "maintenance"], lines: "publishes a message" },
  alerts: { may: [...slice, "maintenance", "outbox"], lines: "tells people what was given up" },
  operations: { may: [...slice, "maintenance"], lines: "decides about many things, one by one" },
  "dead-letters": {
    may: [...slice, "maintenance", "outbox", "operations"],
    lines: "decides about dead letters, one or many",
  },
  people: { may: slice, lines: "asks people" },
  crowd: { may: [...slice, "outbox", "people"], lines: "asks a crowd" },
  access: { may: slice, lines: "says who may come in" },
  inspect: {
    may: [...slice, "store", "schedules", "outbox", "alerts", "people"],
    lines: "reads across all rooms and decides nothing",
  },
  http: {
    may: ["base", "definition", "telemetry", "access", "kernel/time-limit.ts", "api"],
    lines: "answers over HTTP",
  },
  cli: {
    // It reads and writes the files that a user names, in the formats of people.
    may: ["base", "definition", "telemetry", "http", "people/formats", "api"],
    lines: "answers in a terminal",
  },
  api: { may: behind, lines: "needs all of Pawl" },
  testing: { may: [...behind, "http", "api"], lines: "moves a clock or injects a fault" },
};

/** What the doors of the package may import. */
export const doors: Readonly<Record<string, readonly string[]>> = {
  "index.ts": [...behind, "http", "api"],
  "quality.ts": ["base", "policy/agreement"],
  "formats.ts": ["people/formats", "type policy"],
  "webhooks.ts": ["outbox", "alerts", "type kernel"],
};

/** Where a line that needs the room `target` belongs when it may not stand where it does. */
export function belongs(target: string): string {
  if (target === "store") return "a line that touches a row belongs in kernel/, and its statement in store/";
  if (target === "api") return "a line that needs all of Pawl belongs in http/, cli/ or testing/";
  if (doors[target] !== undefined) return "it is a door for users; import the file that defines the thing";
  return `a line that ${rooms[target]?.lines ?? "has no room"} belongs in ${target}/`;
}

/** Packages that one place alone knows. */
export const packages: Readonly<Record<string, string>> = {
  pg: "store/postgres/",
  "@electric-sql/pglite": "store/pglite/",
  amqplib: "outbox/brokers/rabbitmq/",
  "@aws-sdk/client-mturk": "crowd/marketplaces/mturk/",
  aws4fetch: "dead-letters/",
  commander: "cli/",
  picocolors: "cli/",
  "@viz-js/viz": "definition/",
  pino: "telemetry/",
  "prom-client": "telemetry/",
  "@opentelemetry/api": "telemetry/",
  ajv: "people/",
  hono: "http/",
  "@hono/node-server": "http/",
};

export const pureRooms = ["base", "definition", "policy"];

/** Node's modules that a pure file may use: random bytes for ids, a hash of a definition's shape. */
export const pureImports: Readonly<Record<string, string>> = {
  "base/ids.ts": "node:crypto",
  "definition/shape.ts": "node:crypto",
  "definition/decide/lane-key.ts": "node:crypto",
};

/** As the scan names what a file uses. */
export const impure = [
  "Date.now",
  "new Date()",
  "performance.now",
  "Math.random",
  "setTimeout()",
  "setInterval()",
  "setImmediate()",
  "process",
  "fetch()",
];
