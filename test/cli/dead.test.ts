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
    const archive = `import { folderArchive } from "pawl";\n${parcelConfig}`;
    const config = archive.replace(
      "lifecycles: [parcel],",
      "lifecycles: [parcel], deadLetters: { archive: folderArchive(process.env.ARCHIVE) },",
    );
    project = newProject({ "pawl.config.mjs": config });
    env = { DATABASE_URL: store.url!, ARCHIVE: project.path("archive") };
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

  test("decide about many, after a look at what it comes to, and put them away", async () => {
    for (const key of ["a", "b"]) {
      await pawl("instance", "start", "parcel", "--key", key, "--data", '{"address":"Elm 3"}');
      await pawl("instance", "send", "parcel", key, "fail", "--payload", `{"reason":"wet ${key}1"}`);
    }
    const groups = (await pawl("dead", "--groups")).stdout;
    const [, fingerprint] = /^letters\tfingerprint\t.*\n2\t(\w+)\tparcel\t\w+\twet #\t/.exec(groups) ?? [];
    const those = ["--fingerprint", fingerprint!, "--since", "1h"];
    const looked = await pawl("dead", "requeue", ...those, "--dry-run", "--json");
    expect(JSON.parse(looked.stdout)).toMatchObject({ letters: 2, outcomes: { requeued: 2 } });
    const unasked = await pawl("dead", "requeue", ...those);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("Say --yes") });
    const done = await pawl("dead", "requeue", ...those, "--yes", "--rate", "100", "--actor", "ada", "--reason", "dry");
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("\tdone\t2/2\t2 requeued\tada\tdry") });
    expect((await pawl("dead", "archive", "--older-than", "0s")).stdout).toMatch(
      /^\d dead letters were archived in 1 file/,
    );
    expect((await pawl("dead", "restore", "--all")).stdout).toMatch(/^[1-9] dead letters are back from 1 file/);
  }, 120_000);
});
