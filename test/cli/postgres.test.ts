import pg from "pg";
import { expect, test } from "vitest";
import { onPostgres } from "../setup/suites.ts";
import { projectOnPostgres } from "./on-postgres.ts";
import { newProject, parcelConfig } from "./pawl-command.ts";

onPostgres("with a database server", () => {
  const project = projectOnPostgres(parcelConfig, (db) => db.script("drop schema if exists pawl cascade"));
  const { begin, pawl } = project;

  test("the schema changes when it is told to, and not because somebody looked", async () => {
    expect(await pawl("status")).toMatchObject({ code: 1, stderr: expect.stringContaining("pawl migrate") });
    expect(await pawl("doctor")).toMatchObject({ code: 1, stdout: expect.stringMatching(/✗ Schema +lacks ground, /) });
    const before = await pawl("migrate", "--status");
    expect(before).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^version\tname\tstatus\tkind\n1\tground\tpending\tbreaking\n/),
    });
    expect(await pawl("migrate")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Applied ground\.\n[\s\S]*The schema is now at/),
    });
    expect(await pawl("migrate")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The schema is up to date/),
    });
    expect(await pawl("migrate", "--status")).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining("pending"),
    });
    const well = expect.stringMatching(/✓ Schema +up to date[\s\S]*✓ Clock +the database is 0/);
    expect(await pawl("doctor")).toMatchObject({ code: 0, stdout: well });
  });

  test("doctor warns where other roles may create functions that could take the place of built-in ones", async () => {
    const client = new pg.Client({ connectionString: project.env.DATABASE_URL });
    await client.connect();
    await client.query("grant create on schema public to public");
    const open = /! Rights +PUBLIC can create objects in schema public\n.*revoke create on schema public from PUBLIC;/;
    expect(await pawl("doctor")).toMatchObject({ code: 0, stdout: expect.stringMatching(open) });
    await client.query("revoke create on schema public from public");
    await client.end();
    const closed = "no other role can create objects in `public` or `pawl`";
    expect(await pawl("doctor")).toMatchObject({ code: 0, stdout: expect.stringContaining(closed) });
  });

  test("the commands go to the server, and any number of starts run side by side", async () => {
    const one = begin("start");
    const two = begin("start");
    await Promise.all([one.says("Press Ctrl-C"), two.says("Press Ctrl-C")]);
    expect(one.stdout).toMatch(/Database +PostgreSQL \d+(\.\d+)* /);
    expect(one.stdout, "a shared server is never seeded").toMatch(/parcel +version 1 +no instances yet/);
    expect(one.stdout).not.toContain(new URL(project.env.DATABASE_URL).password || "no password");
    expect(await pawl("instance", "start", "parcel", "--key", "p1", "--data", '{"address":"Elm 3"}')).toMatchObject({
      code: 0,
    });
    expect(await pawl("instance", "send", "parcel", "p1", "hurry")).toMatchObject({ code: 0 });
    expect(await pawl("instance", "wait", "parcel", "p1", "--until", "delivered", "--timeout", "20s")).toMatchObject({
      code: 0,
    });
    expect(await one.end()).toMatchObject({ code: 0 });
    expect(await two.end()).toMatchObject({ code: 0 });
  });

  test("pawl work runs steps until it is told to stop, and pawl verify finds everything in order", async () => {
    const shop = newProject({ "pawl.config.mjs": orderConfig });
    try {
      const working = shop.begin(["work", "--concurrency", "4"], project.env);
      await working.says("concurrency 4");
      expect(await shop.begin(["instance", "start", "order", "--key", "o1"], project.env).ended).toMatchObject({
        code: 0,
      });
      const wait = ["instance", "wait", "order", "o1", "--until", "packed", "--timeout", "20s"];
      expect(await shop.begin(wait, project.env).ended).toMatchObject({ code: 0 });
      expect(await working.end()).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("finishing running steps"),
      });
      const serving = shop.begin(["serve", "--port", "0"], project.env);
      await serving.says("Console and API of");
      const url = /: (http:\/\/\S+)\./.exec(serving.stdout)![1]!;
      const { stdout } = await shop.begin(["token", "create", "viewer", "--role", "viewer", "--json"], project.env)
        .ended;
      const token = { PAWL_URL: url, PAWL_TOKEN: (JSON.parse(stdout) as { secret: string }).secret };
      const elsewhere = (...args: string[]) => shop.begin(args, token).ended;
      expect(await elsewhere("instance", "show", "order", "o1")).toMatchObject({ code: 0, stderr: "" });
      expect(await elsewhere("instance", "list", "order", "--state", "packed")).toMatchObject({ code: 0 });
      expect(await elsewhere("instance", "show", "order", "o2")).toMatchObject({ code: 3 });
      const refused = { code: 7, stderr: expect.stringContaining("the right to operate") };
      expect(await elsewhere("instance", "send", "order", "o1", "discard")).toMatchObject(refused);
      expect(await elsewhere("status", "--url", "http://127.0.0.1:1")).toMatchObject({ code: 6 });
      expect(await elsewhere("status", "--url", "somewhere")).toMatchObject({ code: 2 });
      expect(await serving.end()).toMatchObject({ code: 0 });
      const verified = await shop.begin(["verify"], project.env).ended;
      expect(verified).toMatchObject({ code: 0, stdout: "No violations found.\n" });
      expect(await shop.begin(["work", "--concurrency", "none"], project.env).ended).toMatchObject({ code: 2 });
      expect(await shop.begin(["work"], {}).ended).toMatchObject({ stderr: expect.stringContaining("DATABASE_URL") });
    } finally {
      await shop.remove();
    }
  });
});

const orderConfig = `
import { defineConfig, lifecycle } from "pawl";

const order = lifecycle("order", {
  initial: "packing",
  states: { packing: { run: () => {}, on: { packed: "packed" } }, packed: { final: "success" } },
});

export default defineConfig({ lifecycles: [order] });
`;
