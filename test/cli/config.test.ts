import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { build, newProject, type Project, parcelConfig, root } from "./pawl-command.ts";

beforeAll(build, 120_000);
let project: Project;
beforeAll(() => {
  project = newProject({ "pawl.config.mjs": parcelConfig });
});
afterAll(() => project.remove());

test("the document of the API is printed, whatever the config, for the server that is named", async () => {
  const printed = await project.pawl("openapi", "--server", "https://pawl.example.com/");
  expect(printed).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(printed.stdout)).toMatchObject({
    openapi: "3.1.0",
    servers: [{ url: "https://pawl.example.com" }],
    paths: { "/api/lifecycles": { get: { operationId: "lifecycles" } } },
  });
  const typed = JSON.parse((await project.pawl("openapi", "--lifecycles")).stdout);
  expect(typed.components.schemas["parcel.State"].enum).toContain("packed");
  expect(JSON.parse(printed.stdout).components.schemas["parcel.State"]).toBeUndefined();
  expect(await project.pawl("openapi", "--server", "here")).toMatchObject({ code: 2, stdout: "" });
});

describe("a config that cannot be used", () => {
  test.each([
    [
      "throws",
      "c.ts",
      "const x: any = 0;\nx.y.z();\nexport default {};",
      /could not be loaded \(c\.ts:2\): Cannot read prop/,
    ],
    ["is not even TypeScript", "c.ts", "const x: = 1;", /could not be loaded: .*c\.ts:1/],
    ["imports what is not there", "c.mjs", 'import "./gone.mjs";', /could not be loaded: Cannot find module/],
    ["has no default export", "c.mjs", "export const a = 1;", /no default export[\s\S]*defineConfig/],
    ["exports something else", "c.mjs", "export default 5;", /has 5 as its default export/],
    ["has no lifecycles", "c.mjs", "export default {};", /no array `lifecycles`/],
    [
      "lists what is no lifecycle",
      "c.mjs",
      'export default { lifecycles: ["essay"] };',
      /has "essay" as lifecycles\[0\]/,
    ],
    [
      "has a misspelt key",
      "c.mjs",
      "export default { lifecycles: [], databse: 1 };",
      /`databse`[\s\S]*Did you mean "database"/,
    ],
    [
      "names a database that is no text",
      "c.mjs",
      "export default { lifecycles: [], database: 1 };",
      /`database` that is not a URL/,
    ],
    [
      "has a misspelt setting of the server",
      "c.mjs",
      "export default { lifecycles: [], http: { mediaSource: [] } };",
      /`http\.mediaSource`[\s\S]*Did you mean "mediaSources"/,
    ],
    [
      "has a misspelt limit of the server",
      "c.mjs",
      "export default { lifecycles: [], http: { limits: { stream: 3 } } };",
      /`stream`[\s\S]*Did you mean `streams`/,
    ],
    ["is no JSON", "c.json", "{", /cannot be read/],
  ])("one that %s is explained", async (_name, file, text, told) => {
    project.write({ [file]: text });
    const ended = await project.pawl("check", "--config", file);
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(told) });
    expect(ended.stderr, "no stack unless asked for").not.toContain("    at ");
  });

  test("so it is wherever it is needed, and with a stack for who asks for it", async () => {
    project.write({ "c.mjs": "export default {};" });
    const ended = await project.pawl("start", "--verbose", "--config", "c.mjs");
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/no array `lifecycles`/) });
    expect(ended.stderr).toContain("    at ");
  });

  test("one that is not there is looked for in vain", async () => {
    expect(await project.pawl("check", "--config", "nowhere.ts")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Correct --config"),
    });
    const empty = newProject({});
    const ended = await empty.pawl("start");
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("No pawl.config.ts") });
    await empty.remove();
  });
});

describe("a config is read from", () => {
  const essay = `
    import { lifecycle } from "pawl";
    enum Names { Essay = "essay" }
    export const essay = lifecycle(Names.Essay, {
      initial: "written",
      states: { written: { forever: true, on: { grade: "graded" } }, graded: { final: "success" } },
    });`;

  test.each([
    [
      "TypeScript",
      { "pawl.config.ts": 'import { essay } from "./essay.ts";\nexport default { lifecycles: [essay] };' },
    ],
    [
      "TypeScript in a CommonJS project",
      {
        "package.json": "{}",
        "pawl.config.ts": 'import { essay } from "./essay";\nexport default { lifecycles: [essay] };',
      },
    ],
    ["JSON that names files", { "pawl.config.json": '{ "lifecycles": ["./essay.ts"] }' }],
  ])("%s", async (_name, files: Record<string, string>) => {
    const own = newProject({ "essay.ts": essay, ...files, "deep/down/x.txt": "" });
    expect(await own.pawl("check")).toMatchObject({
      code: 0,
      stdout: "✓ essay  version 1, 4 states, 5 events\n",
      stderr: "",
    });
    await own.remove();
  });

  test("TypeScript, where nothing can read it, only by saying what to do", async ({ skip }) => {
    if ((process.features as { typescript?: unknown }).typescript) skip("this Node reads TypeScript by itself");
    // As npm installs it: with what Pawl depends on, and without tsx.
    const own = newProject({ "pawl.config.ts": "export default {};" });
    const modules = own.path("node_modules");
    for (const name of ["tsx", "pawl"]) rmSync(join(modules, name));
    for (const path of ["dist", "package.json"])
      cpSync(join(root, path), join(modules, "pawl", path), { recursive: true });
    for (const name of ["commander", "picocolors"]) symlinkSync(join(root, "node_modules", name), join(modules, name));
    const { status, stderr } = spawnSync(process.execPath, [join(modules, "pawl/dist/cli/bin.js"), "check"], {
      cwd: own.folder,
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/is TypeScript, which Node [\d.]+ cannot read by itself, and tsx is not installed\.\n/);
    expect(stderr).toContain("npm install --save-dev tsx");
    await own.remove();
  });
});

describe("flags come before variables, and these before the config", () => {
  test("for the folder and the database", async () => {
    const settings = newProject({
      "pawl.config.mjs": parcelConfig.replace("lifecycles:", 'folder: "in-config", lifecycles:'),
    });
    const told = async (args: string[], env: Record<string, string>) =>
      (await settings.begin(["status", ...args], env).ended).stderr;
    const unreachable = "postgres://nobody:secret@127.0.0.1:1/none";
    expect(await told([], {})).toContain("in-config yet");
    expect(await told([], { PAWL_FOLDER: "in-variable" })).toContain("in-variable yet");
    expect(await told(["--folder", "in-flag"], { PAWL_FOLDER: "in-variable" })).toContain("in-flag yet");
    expect(await told([], { DATABASE_URL: unreachable })).toContain("The database cannot be reached");
    expect(await told([], { DATABASE_URL: unreachable, PAWL_FOLDER: "in-variable" })).toContain("in-variable yet");
    expect(await told([], { PAWL_DATABASE_URL: unreachable, PAWL_FOLDER: "x" })).toContain("cannot be reached");
    expect(await told(["--folder", "in-flag"], { PAWL_DATABASE_URL: unreachable })).toContain("in-flag yet");
    expect(await told([], { DATABASE_URL: unreachable })).not.toContain("secret");
    await settings.remove();
  });

  test("a database that cannot be reached, or is not there yet, ends with 6", async () => {
    expect(await project.pawl("instance", "list", "parcel")).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("No database in"),
    });
    const elsewhere = project.begin(["status"], { DATABASE_URL: "postgres://127.0.0.1:1/none" });
    expect(await elsewhere.ended).toMatchObject({ code: 6 });
  });
});

describe("pawl check", () => {
  const first = `
    import { lifecycle } from "pawl";
    export const first = lifecycle("first", { initial: "a", states: { a: { on: { go: "z" } } } } as never);`;
  const second = `
    import { lifecycle } from "pawl";
    const states = { a: { forever: true, on: { go: "b" } }, b: { final: "success" }, c: { final: "success" } };
    export const second = lifecycle("second", { initial: "a", states } as never);
    export const third = lifecycle("third", { initial: "a", states } as never);`;
  const config = `
    import { first } from "./first.js";
    import { second } from "./second.ts";
    export default { lifecycles: [first, second] };`;
  const broken = { "first.ts": first, "second.ts": second, "pawl.config.ts": config };

  test("lists every fault of every lifecycle, also of several in a file, with place and remedy", async () => {
    const own = newProject(broken);
    const ended = await own.pawl("check");
    expect(ended).toMatchObject({ code: 1, stderr: "" });
    expect(ended.stdout).toContain('✗ lifecycle "first"  3 faults');
    expect(ended.stdout).toContain('    states.a.on.go\n    There is no state "z".\n    Choose one of "a".');
    expect(ended.stdout).toContain('✗ lifecycle "second"  1 fault\n\n    states.c\n    Nothing leads here');
    const { code, stdout } = await own.pawl("check", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      faults: [
        { definition: 'lifecycle "first"', place: "states.a.on.go", code: "state_unknown" },
        { definition: 'lifecycle "first"', code: "end_unreachable" },
        { definition: 'lifecycle "first"', code: "wait_endless" },
        { definition: 'lifecycle "second"', place: "states.c", code: "state_unreachable", remedy: expect.any(String) },
        { definition: 'lifecycle "third"', place: "states.c" },
      ],
    });
    expect(await own.pawl("start")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has 3 faults[\s\S]*pawl check/),
    });
    own.write({ "c.json": '{ "lifecycles": ["./second.ts"] }' });
    const named = await own.pawl("check", "--config", "c.json");
    expect(named).toMatchObject({ code: 1, stdout: expect.stringContaining('✗ lifecycle "second"  1 fault') });
    await own.remove();
  });

  test("takes every documented setting of the server", async () => {
    const http = `{ port: 0, host: "127.0.0.1", token: "0123456789abcdef", limits: { streams: 3 }, mediaSources: ["https:"] }`;
    project.write({ "c.mjs": `export default { lifecycles: [], http: ${http} };` });
    expect(await project.pawl("check", "--config", "c.mjs")).toMatchObject({ code: 0 });
  });

  test("warns of a fallback into a join, whose children may never have been started", async () => {
    const own = newProject({
      "pawl.config.mjs": `
        import { lifecycle } from "pawl";
        const exam = lifecycle("exam", {
          initial: "open",
          recovery: { fallback: "again" },
          states: {
            open: { timeout: { after: "1d", send: "fail" }, on: { close: "joining" } },
            joining: { join: {}, on: { joined: "done" } },
            done: { final: "success" },
            failed: { on: { again: "joining" } },
          },
        });
        export default { lifecycles: [exam] };`,
    });
    const ended = await own.pawl("check");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain('! lifecycle "exam"\n\n    recovery.fallback\n    "again" leads from "failed"');
    const { warnings } = JSON.parse((await own.pawl("check", "--json")).stdout);
    expect(warnings).toMatchObject([{ code: "join_skipped", definition: 'lifecycle "exam"' }]);
    await own.remove();
  });

  test("shows what is sound, and draws it when asked", async () => {
    const ended = await project.pawl("check", "--diagram");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(/^✓ parcel {2}version 1, 7 states, \d+ events\n\n%% parcel\nstateDiagram-v2\n/);
    expect(await project.json("check")).toMatchObject({
      ok: true,
      lifecycles: [{ name: "parcel", version: 1 }],
      faults: [],
    });
  });
});

describe("pawl diagram", () => {
  test("R101 every format shows every state and every edge", async () => {
    const edges = [
      ["packed", "under_way", "ship"],
      ["packed", "hurried", "hurry"],
      ["hurried", "delivered", "arrive"],
      ["under_way", "delivered", "arrive"],
      ["under_way", "lost", "lose"],
    ] as const;
    const [mermaid, dot, svg] = await Promise.all(
      ["--mermaid", "--dot", "--svg"].map(async (format) => (await project.pawl("diagram", "parcel", format)).stdout),
    );
    for (const [from, to, event] of edges) {
      expect(mermaid).toContain(`  ${from} --> ${to}: ${event}\n`);
      expect(dot).toContain(`  "${from}" -> "${to}" [label="${event}"];\n`);
      expect(svg).toContain(`<title>${from}&#45;&gt;${to}</title>`);
      expect(svg).toContain(`>${event}</text>`);
    }
    for (const state of new Set(edges.flatMap((edge) => edge.slice(0, 2)))) {
      expect(dot).toContain(`  "${state}" [shape=`);
      expect(svg).toContain(`>${state}</text>`);
    }
    expect(await project.json("diagram", "parcel")).toEqual({ lifecycle: "parcel", diagram: mermaid });
  });

  test("draws as Mermaid, Graphviz and SVG, to stdout or a file", async () => {
    expect((await project.pawl("diagram")).stdout).toMatch(/^stateDiagram-v2\n {2}\[\*\] --> packed\n/);
    expect((await project.pawl("diagram", "parcel", "--dot", "--built-ins")).stdout).toMatch(
      /^digraph "parcel" \{[\s\S]*recover/,
    );
    expect(await project.pawl("diagram", "parcel", "--svg", "-o", "p.svg")).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(project.path("p.svg"), "utf8")).toMatch(/<svg[\s\S]*under_way/);
    expect(await project.pawl("diagram", "parcel", "--svg", "--dot")).toMatchObject({ code: 2 });
    expect(await project.pawl("diagram", "parsel")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('"parcel"'),
    });
  });
});

test("help begins with examples, and so does a call without arguments", async () => {
  for (const args of [[], ["--help"]]) {
    expect(await project.pawl(...args)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Examples:\n/),
      stderr: "",
    });
  }
  expect((await project.pawl("instance", "send", "--help")).stdout).toContain("--expected-version");
});
