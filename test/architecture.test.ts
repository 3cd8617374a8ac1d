import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { check, type Tree } from "./architecture/check.ts";
import { checkPages } from "./architecture/pages.ts";
import { rooms } from "./architecture/rooms.ts";

const root = join(import.meta.dirname, "..");
const dependencies = ["pg", "@electric-sql/pglite", "commander", "pino", "@viz-js/viz", "@standard-schema/spec"];

function sources(folder: string, files: RegExp): Tree {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((path) =>
    files.test(path),
  );
  return Object.fromEntries(
    paths.map((path) => [path.replaceAll("\\", "/"), readFileSync(join(root, folder, path), "utf8")]),
  );
}

test("every line of src/ stands in its room", () => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const shipped = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  expect(check(sources("src", /\.ts$/), shipped)).toEqual([]);
});

test("pages know the types of the contract, and nothing else of Pawl", () => {
  expect(checkPages(sources("console/src", /(?<!\.test)\.tsx?$/))).toEqual([]);
  const strays = {
    "pages/x.tsx": 'import { Pawl } from "../../../src/pawl.ts";\nimport { Form } from "../desk/form.tsx";',
    "y.ts": 'import { openapi } from "../../src/http/contract.ts";\nimport { z } from "zod";',
  };
  expect(checkPages(strays)).toEqual([
    expect.stringContaining("console/src/pages/x.tsx:1 imports src/pawl.ts; a page knows src/http/contract.ts and"),
    "console/src/pages/x.tsx:2 imports console/src/desk/form.tsx; the desk is a bundle of its own",
    "console/src/y.ts:1 imports src/http/contract.ts; of the contract a page knows types alone",
    expect.stringContaining("console/src/y.ts:2 imports zod; a page knows"),
  ]);
});

/** Each folder below one of these, with the names of its files. */
function foldersOf(...tops: string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const top of tops) {
    for (const entry of readdirSync(join(root, top), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const folder = relative(root, entry.parentPath).replaceAll("\\", "/");
      folders.set(folder, [...(folders.get(folder) ?? []), entry.name]);
    }
  }
  return folders;
}

describe("the folders", () => {
  test("no folder has more files than a reader takes in", () => {
    const full = [...foldersOf("src", "console/src", "test")].filter(
      ([folder, files]) => files.length > 20 && folder !== "src/store/migrations",
    );
    expect(full.map(([folder, files]) => `${folder} has ${files.length} files: sort them into folders`)).toEqual([]);
  });

  test("test/ has the folders of src/, and those of what is about all of it", () => {
    /** What is tested across rooms, and what tests stand on. */
    const across = ["architecture", "code-blocks", "faults", "guard", "package", "pairs", "simulation"];
    const own = [...across, "setup", "support", "console", "examples"];
    const strays = [...foldersOf("test").keys()].filter((folder) => {
      const [, top] = folder.split("/");
      return top !== undefined && !own.includes(top) && !existsSync(join(root, folder.replace(/^test/, "src")));
    });
    expect(strays, "a test stands in the folder of what it tests").toEqual([]);
  });
});

test("each decision has a number of its own, and is listed under its title", () => {
  const folder = join(root, "docs/adr");
  const pages = readdirSync(folder)
    .filter((name) => name !== "README.md")
    .sort();
  const numbers = pages.map((name) => Number(name.slice(0, 4)));
  expect(numbers).toEqual(pages.map((_, index) => index + 1));
  const listed = [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/^- \[(.+)\]\((.+)\)$/gm)];
  const titles = pages.map((name) => [readFileSync(join(folder, name), "utf8").split("\n")[0]!.slice(2), name]);
  expect(listed.map(([, title, name]) => [title, name])).toEqual(titles);
});

describe("the pages about the rooms", () => {
  const page = readFileSync(join(root, "docs/ARCHITECTURE.md"), "utf8");

  test.each(["CONTRIBUTING.md", "docs/ARCHITECTURE.md"])("%s names files and folders as they are called", (name) => {
    const text = readFileSync(join(root, name), "utf8");
    const paths = [...text.matchAll(/`((?:src|test|console|docs|examples|bench)\/[\w./-]*)`/g)].map(
      ([, path]) => path!,
    );
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const links = [...text.matchAll(/\[([\w./-]+(?:\.ts|\/))\]\(([^)]+)\)/g)].map(([, label, target]) => ({
      label: label!.replace(/\/$/, ""),
      path: `/${posix.join(posix.dirname(name), target!)}`.replace(/\/$/, ""),
    }));
    // A label may be shorter than the path, or the folder of the file that it leads to.
    expect(links.filter(({ label, path }) => !path.endsWith(`/${label}`) && !path.includes(`/${label}/`))).toEqual([]);
  });

  test("the example of a new verb is as the code has it", () => {
    const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
    const row = /```js\n([\s\S]*?)```/.exec(text.slice(text.indexOf("### Example: add a verb")))?.[1] ?? "";
    const code = readFileSync(join(root, "src/http/routes/schedules.ts"), "utf8");
    expect(code).toContain(row.replaceAll(/^ {3}/gm, "").trimEnd());
    expect(row).toContain("pauseSchedule");
  });

  test("the list of rooms is that of the folders, each with the folders that it names", () => {
    const list = /^ {4}src\/\n([\s\S]*?)^ {4}console\//m.exec(page)?.[1] ?? "";
    const entries = list.split(/^ {6}(?=\w)/m).filter((entry) => entry !== "");
    expect(entries.map((entry) => /^[\w.-]+/.exec(entry)![0]).sort()).toEqual(readdirSync(join(root, "src")).sort());
    const folders = entries
      .filter((entry) => !/^[\w-]+\.ts/.test(entry))
      .flatMap((entry) => {
        const [room, ...below] = [...entry.matchAll(/[\w-]+(?=\/)/g)].map(([name]) => name);
        return below.map((folder) => `src/${room}/${folder}`);
      });
    expect(folders.filter((folder) => !existsSync(join(root, folder)))).toEqual([]);
    const existing = [...foldersOf("src").keys()].filter((folder) => folder.split("/").length === 3);
    const inEachSlice = /\/(store|views)$/;
    expect(existing.filter((folder) => !inEachSlice.test(folder) && !folders.includes(folder))).toEqual([]);
  });

  test("the diagram shows each room, and no import that is not allowed", () => {
    const diagram = /```mermaid\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
    const arrows = [...diagram.matchAll(/^ *([\w-]+) --> ([\w-]+(?: & [\w-]+)*)$/gm)].flatMap(([, from, targets]) =>
      targets!.split(" & ").map((to) => [from!, to] as const),
    );
    expect([...new Set(arrows.flat())].sort()).toEqual(Object.keys(rooms).sort());
    expect(arrows.filter(([from, to]) => !rooms[from]?.may.includes(to))).toEqual([]);
  });
});

describe("the check itself", () => {
  const insertInstances =
    "export function insertInstances() { return sql`insert into pawl.instances (id) values (1)`; }";

  test("a tree in order passes", () => {
    const tree = {
      "base/errors.ts": "export class PawlError extends Error {}",
      "base/ids.ts": 'import { randomFillSync } from "node:crypto";',
      "definition/decide.ts": 'import { PawlError } from "../base/errors.ts";\n// Date.now() would be wrong here.',
      "store/port/db.ts": "export function sql() {}",
      "store/instances.ts": `import { sql } from "./port/db.ts";\n${insertInstances}\nexport function readInstances() {}`,
      "store/postgres/open.ts": 'import pg from "pg";\nimport type { Db } from "../port/db.ts";',
      "kernel/commit/commit.ts": 'import { insertInstances } from "../store/instances.ts";',
      "kernel/send.ts":
        'import { decide } from "../definition/decide.ts";\nimport { readInstances } from "../store/instances.ts";',
      "worker/run.ts": 'import type { Db } from "../store/port/db.ts";\nimport { send } from "../kernel/send.ts";',
      "people/queues.ts":
        'import { readQueues } from "./store/queues.ts";\nimport type { Row } from "../store/move/tasks.ts";',
      "people/store/queues.ts":
        'import { part } from "../../store/move/tasks.ts";\nconst one = sql`update pawl.queues set name = $1`;',
      "cli/bin.ts": 'import { Command } from "commander";\nimport { createPawl } from "../api/pawl.ts";',
      "api/pawl.ts":
        'import { openPostgres } from "../store/postgres/open.ts";\nimport { run } from "../worker/run.ts";',
      "index.ts": 'export { createPawl } from "./api/pawl.ts";',
      "testing/index.ts": 'export * from "./clock.ts";',
    };
    expect(check(tree, dependencies)).toEqual([]);
  });

  const strays: [string, Tree, string][] = [
    [
      "a loop that reaches for a row",
      { "worker/x.ts": 'import a from "../base/a.ts";\n\nimport { claimTasks } from "../store/tasks.ts";' },
      "src/worker/x.ts:3 imports store/tasks.ts; a line that touches a row belongs in kernel/, and its statement in store/",
    ],
    [
      "a slice that reaches for a row of the kernel",
      { "people/x.ts": 'import { claimTasks } from "../store/tasks/tasks.ts";' },
      "src/people/x.ts:1 imports more than types of store/tasks/tasks.ts; a line that touches a row belongs in kernel/",
    ],
    [
      "a slice that reaches for a row of another",
      { "crowd/x.ts": 'import type { Sample } from "../people/store/samples.ts";' },
      "src/crowd/x.ts:1 imports people/store/samples.ts; a line that touches a row of people/ belongs there",
    ],
    [
      "a type counts, too",
      { "definition/x.ts": 'import type { RetryPolicy } from "../policy/retry.ts";' },
      "src/definition/x.ts:1 imports policy/retry.ts; a line that computes when to retry, trip or expire belongs in policy/",
    ],
    [
      "an export from elsewhere",
      { "base/x.ts": 'export {\n  decide,\n} from "../definition/decide.ts";' },
      "src/base/x.ts:1 imports definition/decide.ts; a line that computes what a lifecycle is or decides belongs in definition/",
    ],
    [
      "a dynamic import",
      { "http/x.ts": 'const kernel = await import("../kernel/send.ts");' },
      "src/http/x.ts:1 imports kernel/send.ts; a line that touches a row or decides about one belongs in kernel/",
    ],
    [
      "more than types where only types may come",
      { "maintenance/x.ts": 'import { type Db, sql } from "../store/port/db.ts";' },
      "src/maintenance/x.ts:1 imports more than types of store/port/db.ts; a line that touches a row belongs in kernel/, and its statement in store/",
    ],
    [
      "a room that reaches for the door",
      { "kernel/x.ts": 'import { createPawl } from "../api/pawl.ts";' },
      "src/kernel/x.ts:1 imports api/pawl.ts; a line that needs all of Pawl belongs in http/, cli/ or testing/",
    ],
    [
      "a door used from inside",
      { "cli/x.ts": 'import { createPawl } from "../index.ts";' },
      "src/cli/x.ts:1 imports index.ts; it is a door for users; import the file that defines the thing",
    ],
    [
      "a second door used from inside",
      { "cli/x.ts": 'import { labelsToCsv } from "../formats.ts";' },
      "src/cli/x.ts:1 imports formats.ts; it is a door for users; import the file that defines the thing",
    ],
    [
      "a file outside",
      { "cli/x.ts": 'import manifest from "../../package.json" with { type: "json" };' },
      "src/cli/x.ts:1 imports ../../package.json; nothing outside src/ is in the package",
    ],
    ["a room that nobody knows", { "services/x.ts": "" }, "src/services/x.ts:1 stands in no room; the rooms are base,"],
    ["a vague name", { "kernel/utils.ts": "" }, "src/kernel/utils.ts:1 is called utils; name it after what it does"],
    ["a door that is none", { "kernel/index.ts": "" }, "src/kernel/index.ts:1 is no door of the package"],
    [
      "a driver outside its place",
      { "kernel/x.ts": 'import pg from "pg";' },
      "src/kernel/x.ts:1 imports pg; a line that needs it belongs in store/postgres/",
    ],
    [
      "a subpath of a package",
      { "store/x.ts": 'import { live } from "@electric-sql/pglite/live";' },
      "src/store/x.ts:1 imports @electric-sql/pglite; a line that needs it belongs in store/pglite/",
    ],
    [
      "a package that users do not get",
      { "kernel/x.ts": 'import { z } from "zod";' },
      "src/kernel/x.ts:1 imports zod, which is no dependency of the package: users would not have it",
    ],
    [
      "a clock in a pure room",
      { "policy/x.ts": "/* at\n last */\nconst now = Date.now();" },
      "src/policy/x.ts:3 uses Date.now; policy/ is pure: take it as an argument, or move the line to kernel/",
    ],
    [
      "the process in a pure room",
      { "base/x.ts": "const quote = /[\"'`]/;\nexport const home = process.env.HOME;" },
      "src/base/x.ts:2 uses process; base/ is pure",
    ],
    [
      "a file system in a pure room",
      { "definition/x.ts": 'import { readFileSync } from "node:fs";' },
      "src/definition/x.ts:1 imports node:fs; definition/ is pure",
    ],
    [
      "a statement outside the store",
      { "kernel/x.ts": "const rows = db.rows(sql`select 1`);" },
      "src/kernel/x.ts:1 holds a statement; it belongs in store/, or in views/ when it only shows",
    ],
    [
      "a view that locks",
      { "views/x.ts": "const rows = sql`select id from pawl.tasks for update skip locked`;" },
      "src/views/x.ts:1 writes or locks; such a statement belongs in store/",
    ],
    [
      "a composed statement",
      { "store/x.ts": `const text = \`\n  select id from pawl.tasks where lane = '\${lane}'\`;` },
      "src/store/x.ts:1 composes a statement; values go through the sql tag, and two shapes are two statements",
    ],
    [
      "a statement glued together",
      { "store/x.ts": 'const text = "delete from pawl.tasks where id = " + id;' },
      "src/store/x.ts:1 composes a statement",
    ],
    [
      "a move past the commit",
      {
        "store/instances.ts": insertInstances,
        "kernel/x.ts": 'import { insertInstances } from "../store/instances.ts";',
      },
      "src/kernel/x.ts:1 imports insertInstances from store/instances.ts; a line that moves an instance belongs in kernel/commit/",
    ],
    [
      "a move by way of a private function",
      {
        "store/journal.ts":
          "const add = sql`\n  insert  into pawl.journal`;\nexport function insertJournal() { return add; }",
        "kernel/x.ts": 'import * as journal from "../store/journal.ts";',
      },
      "src/kernel/x.ts:1 imports insertJournal from store/journal.ts",
    ],
    [
      "a move in the store of a slice",
      { "people/store/x.ts": "const text = sql`update pawl.instances set state = 'done'`;" },
      "src/people/store/x.ts:1 writes an instance or the journal; such a statement belongs in store/, called by kernel/commit/",
    ],
    [
      "a move outside the store",
      { "testing/x.ts": "const text = sql`update pawl.instances set state = 'done'`;" },
      "src/testing/x.ts:1 writes an instance or the journal; such a statement belongs in store/, called by kernel/commit/",
    ],
  ];

  test.each(strays)("finds %s", (_name, tree, fault) => {
    expect(check(tree, dependencies)).toEqual([expect.stringContaining(fault)]);
  });
});
