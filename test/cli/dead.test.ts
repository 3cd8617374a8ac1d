import { afterAll, beforeAll, expect, test } from "vitest";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";
import { build, newProject, type Project, parcelConfig } from "./pawl-command.ts";

onPostgres("pawl explain and pawl dead", () => {
  let store: TestStore;
  let project: Project;
  let env: Record<string, string>;
  beforeAll(async () => {
    build();
    store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    project = newProject({ "pawl.config.mjs": parcelConfig });
    env = { DATABASE_URL: store.url! };
  }, 120_000);
  afterAll(async () => {
    await project.remove();
    await store.dispose();
  });
  const pawl = (...args: string[]) => project.begin(args, env).ended;

  test("say why it failed, and let a person decide", async () => {
    await pawl("instance", "start", "parcel", "--key", "p1", "--data", '{"address":"Elm 3"}');
    await pawl("instance", "send", "parcel", "p1", "fail", "--payload", '{"reason":"wet"}');
    const explained = await pawl("explain", "parcel", "p1");
    expect(explained).toMatchObject({ code: 0, stdout: expect.stringMatching(/^`parcel` "p1" failed in .*: wet\.\n/) });
    expect(explained.stdout).toContain("It stays failed until a person acts: wet (dead letter ");
    const listed = await pawl("dead", "--json");
    const [letter] = JSON.parse(listed.stdout) as { id: string; instance: string; status: string }[];
    expect(JSON.parse((await pawl("explain", letter!.instance, "--json")).stdout)).toMatchObject({
      failures: 1,
      next: { kind: "person", deadLetter: letter!.id },
    });
    const shown = await pawl("dead", "show", letter!.id);
    expect(shown.stdout).toMatch(/^about {5}parcel p1, given up in \w+\n/);
    const requeued = await pawl("dead", "requeue", letter!.id, "--actor", "ada", "--reason", "dry again");
    expect(requeued).toMatchObject({ code: 0, stdout: expect.stringContaining("\trequeued\t") });
    expect(await pawl("dead", "discard", letter!.id)).toMatchObject({ code: 4 });
    expect(await pawl("dead", "show", "01b8dd58-e200-7001-9beb-f7b99343f5ec")).toMatchObject({ code: 3 });
  }, 60_000);
});
