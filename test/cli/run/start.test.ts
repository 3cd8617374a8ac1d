import { existsSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { build, newProject, type PawlCommand, type Project, parcelConfig } from "../pawl-command.ts";

beforeAll(build, 120_000);

describe("while `pawl start` runs", () => {
  let project: Project;
  let running: PawlCommand;
  beforeAll(async () => {
    project = newProject({ "pawl.config.mjs": parcelConfig });
    running = await project.start();
  });
  afterAll(() => project.remove());

  test("it has said what runs, where, and what to try", () => {
    expect(running.stdout).toMatch(/Pawl \d+\.\d+\.\d+ .*ready in [\d.]+ s, pid \d+/);
    expect(running.stdout).toMatch(/Database +embedded \(PGlite [\d.]+, Postgres 18\.\d+\) +\.\/\.pawl\/db/);
    expect(running.stdout).toMatch(/Lifecycles +parcel +version 1 +packed 2/);
  });

  test("the commands that it says to try work as they stand", async () => {
    const commands = [...running.stdout.matchAll(/^ +(?:npx pawl|node \S+bin\.js) (.+)$/gm)].map(([, words]) =>
      words!.split(" "),
    );
    expect(commands).toHaveLength(3);
    for (const words of commands) expect(await project.pawl(...words)).toMatchObject({ code: 0, stderr: "" });
  });

  test("the link that it says signs in to the console, once; a token is asked for without it", async () => {
    const [, link, url] = /Console +((http:\/\/127\.0\.0\.1:\d+)\/sign-in\/\S+)/.exec(running.stdout)!;
    const signedIn = await fetch(link!, { redirect: "manual" });
    expect(signedIn).toMatchObject({ status: 303 });
    expect(signedIn.headers.get("location")).toBe("/");
    const cookie = signedIn.headers.get("set-cookie")!.split(";")[0]!;
    expect(await (await fetch(`${url}/api/session`, { headers: { cookie } })).json()).toMatchObject({ role: "admin" });
    expect(await (await fetch(`${url}/`)).text()).toContain("<title>Pawl</title>");
    expect(await fetch(`${url}/api/lifecycles`)).toMatchObject({ status: 401 });
    const again = await fetch(link!, { redirect: "manual" });
    expect(again.headers.get("location")).toBe("/sign-in?spent");
  });

  test("a second start says that it is running already, and is no failure", async () => {
    const second = await project.pawl("start");
    expect(second).toMatchObject({ code: 0, stderr: "" });
    expect(second.stdout).toContain(`already running on ./.pawl/db, pid ${running.pid}.`);
    expect(await project.json("start")).toMatchObject({ alreadyRunning: true, pid: running.pid });
  });

  test("other terminals are answered by it, not by the folder", async () => {
    expect(await project.json("status")).toMatchObject({
      pid: running.pid,
      lifecycles: [{ name: "parcel", version: 1 }],
    });
  });

  test("an instance is started, listed, moved and shown", async () => {
    const started = await project.json(
      "instance",
      "start",
      "parcel",
      "--key",
      "p1",
      "--data",
      '{"address":"Elm 3"}',
      "--actor",
      "ada",
    );
    expect(started).toMatchObject({
      key: "p1",
      state: "packed",
      version: 1,
      created: true,
      data: { address: "Elm 3" },
    });
    const again = await project.pawl("instance", "start", "parcel", "--key", "p1", "--data", '{"address":"Elm 4"}');
    expect(again.code).toBe(0);
    expect(again.stderr).toContain("Its key already exists");

    const sent = await project.pawl(
      "instance",
      "send",
      "parcel",
      "p1",
      "ship",
      "--payload",
      '{"carrier":"dhl"}',
      "--reason",
      "it is time",
    );
    expect(sent.stdout).toBe(`p1\tunder_way\t2\t${String(started.id)}\n`);

    const listed = await project.pawl("instance", "list", "parcel", "--state", "under_way");
    const [heading, ...rows] = listed.stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(heading).toEqual(["key", "state", "failure", "moves", "moved", "started", "id"]);
    expect(rows).toEqual([
      ["p1", "under_way", "", "2", expect.stringMatching(/^\d{4}-.*Z$/), expect.stringMatching(/Z$/), started.id],
    ]);

    const shown = await project.json("instance", "show", "parcel", "--id", String(started.id));
    expect(shown).toMatchObject({
      instance: {
        key: "p1",
        data: { address: "Elm 3", carrier: "dhl" },
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      journal: [
        { kind: "move", version: 1, event: "start", from: null, to: "packed", actor: "ada" },
        { kind: "move", version: 2, event: "ship", from: "packed", to: "under_way", reason: "it is time" },
      ],
    });
    const timeline = await project.pawl("instance", "show", "parcel", "p1");
    expect(timeline.stdout.split("\n")[2]).toMatch(/^2\t\S+\tship\tpacked\tunder_way\t\tit is time$/);
  });

  test("instances are listed by why they failed", async () => {
    await project.json("instance", "start", "parcel", "--key", "torn", "--data", '{"address":"Elm 7"}');
    await project.json("instance", "send", "parcel", "torn", "fail", "--reason", "torn open");
    const torn = await project.json("instance", "list", "parcel", "--failure", "torn open");
    expect(torn).toMatchObject([{ key: "torn", failure: { reason: "torn open" } }]);
    const listed = await project.pawl("instance", "list", "parcel", "--failure", "torn open", "--state", "failed");
    expect(listed.stdout.trimEnd().split("\n")[1]).toMatch(/^torn\tfailed\ttorn open\t/);
    expect(await project.json("instance", "list", "parcel", "--failure", "another")).toEqual([]);
    const filters = ["--key", "to", "--state", "failed", "--older-than", "0s", "--idle-for", "0s"];
    expect(await project.json("instance", "list", "parcel", ...filters)).toMatchObject([{ key: "torn" }]);
    expect(await project.json("instance", "list", "parcel", ...filters, "--older-than", "30d")).toEqual([]);
  });

  test("what is due happens by itself", async () => {
    await project.json("instance", "start", "parcel", "--key", "p2", "--data", '{"address":"Elm 5"}');
    await project.json("instance", "send", "parcel", "p2", "hurry");
    const arrived = await project.json("instance", "wait", "parcel", "p2", "--until", "delivered", "--timeout", "20s");
    expect(arrived).toMatchObject({ state: "delivered", outcome: "success" });
  });

  test("Ctrl-C ends a wait with 130, and the process that is waited on goes on", async () => {
    const waiting = project.begin([
      "instance",
      "wait",
      "parcel",
      "seeded",
      "--until",
      "lost",
      "--timeout",
      "1h",
      "--verbose",
    ]);
    await waiting.says("Waiting");
    expect(await waiting.end("SIGINT")).toMatchObject({ code: 130 });
    expect(await project.json("status")).toMatchObject({ pid: running.pid });
  });

  test.each([
    [2, "an unknown command is a slip", ["stat"], "Did you mean start?"],
    [2, "so is an unknown option", ["instance", "list", "parcel", "--stat", "x"], "Did you mean --state?"],
    [2, "so is a missing argument", ["instance", "list"], "missing required argument"],
    [2, "so is text that is not JSON", ["instance", "start", "parcel", "--data", "{x"], "It is not JSON"],
    [2, "so is data that the schema refuses", ["instance", "start", "parcel", "--data", "{}"], "address"],
    [
      2,
      "so is a state that does not exist",
      ["instance", "list", "parcel", "--state", "paked"],
      'Did you mean "packed"?',
    ],
    [2, "so is an event that does not exist", ["instance", "send", "parcel", "seeded", "shp"], "has no event `shp`"],
    [2, "so is naming no instance", ["instance", "show", "parcel"], "Name the instance"],
    [3, "an unknown lifecycle is not found", ["instance", "list", "parcels"], 'Did you mean "parcel"?'],
    [3, "an unknown instance is not found", ["instance", "show", "parcel", "nobody"], 'with the key "nobody"'],
    [
      3,
      "an event to an unknown one, too",
      ["instance", "send", "parcel", "nobody", "hurry"],
      "pawl instance list parcel",
    ],
    [4, "a move that is not there is refused", ["instance", "send", "parcel", "seeded", "lose"], "was refused"],
    [
      4,
      "a version that is not so any more",
      ["instance", "send", "parcel", "seeded", "hurry", "--expected-version", "9"],
      "version",
    ],
    [
      124,
      "a wait ends",
      ["instance", "wait", "parcel", "seeded", "--until", "lost", "--timeout", "50ms"],
      "Timed out waiting",
    ],
  ])("exit code %i: %s", async (code, _name, args, text) => {
    const ended = await project.pawl(...args);
    expect(ended).toMatchObject({ code, stdout: "" });
    expect(ended.stderr).toContain(text);
  });

  test("a guard's reason is told, with what to look at next", async () => {
    const ship = ["instance", "send", "parcel", "seeded", "ship", "--payload", '{"carrier":"x"}', "--actor", "thief"];
    const refused = await project.pawl(...ship);
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(refused.stderr).toMatch(
      /^✗ `ship` was refused .*: a thief ships nothing\.\n {2}See its allowed events: pawl instance show parcel --id /,
    );
    const { stderr } = await project.pawl(...ship, "--json");
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "transition_refused", details: { blockers: [{ kind: "guard" }] } },
    });
  });

  test.skipIf(process.platform === "win32")("its socket is open to its owner only", () => {
    expect(statSync(project.path(".pawl/db.sock")).mode & 0o777).toBe(0o600);
  });
});

describe("the end of `pawl start`", () => {
  test("SIGTERM closes it in order, and what it held is there for the next one", async () => {
    const project = newProject({ "pawl.config.mjs": parcelConfig });
    try {
      const first = await project.start();
      await project.json("instance", "send", "parcel", "seeded", "ship", "--payload", '{"carrier":"dhl"}');
      expect(await first.end()).toMatchObject({ code: 0, stderr: expect.stringContaining("Stopped.") });
      expect(existsSync(project.path(".pawl/db.lock"))).toBe(false);
      expect(existsSync(project.path(".pawl/db.sock"))).toBe(false);

      // Nobody runs: the same commands open the folder themselves.
      expect(await project.json("status")).toMatchObject({ pid: null });
      expect(await project.json("instance", "send", "parcel", "seeded", "arrive")).toMatchObject({
        state: "delivered",
      });
      const [one, two] = await Promise.all([project.pawl("status"), project.pawl("instance", "list", "parcel")]);
      expect([one.code, two.code], "two at once wait for each other").toEqual([0, 0]);

      // Seeded once and for all; and a socket that a killed process left is replaced.
      const second = await project.start();
      expect(second.stdout).toMatch(/parcel +version 1 +packed 1 · delivered 1\n/);
      await second.end("SIGKILL");
      const third = await project.start();
      expect(await project.json("status")).toMatchObject({ pid: third.pid });
      expect(await third.end("SIGINT")).toMatchObject({ code: 0 });
    } finally {
      await project.remove();
    }
  }, 120_000);

  test("a seed that fails is told; a folder whose path is too long for a socket is served all the same", async () => {
    const failing = parcelConfig.replace("for (const key", 'throw new Error("no seed today"); for (const key');
    const project = newProject({ "pawl.config.mjs": failing }, "so-long-".repeat(16));
    try {
      const ended = await project.pawl("start");
      expect(ended).toMatchObject({ code: 1, stdout: "" });
      expect(ended.stderr).toContain("The `seed` of the config failed: no seed today");
      expect(existsSync(project.path(".pawl/db.lock"))).toBe(false);

      project.write({ "pawl.config.mjs": parcelConfig });
      const running = await project.start();
      expect(existsSync(project.path(".pawl/db.sock"))).toBe(false);
      expect(await project.json("status")).toMatchObject({ pid: running.pid });
      await running.end();
    } finally {
      await project.remove();
    }
  }, 120_000);
});
