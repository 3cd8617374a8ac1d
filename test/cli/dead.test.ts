import { expect, test } from "vitest";
import { onPostgres } from "../setup/suites.ts";
import { projectOnPostgres } from "./on-postgres.ts";
import { parcelConfig } from "./pawl-command.ts";

const config = `import { folderArchive } from "pawl";\n${parcelConfig}`.replace(
  "lifecycles: [parcel],",
  'lifecycles: [parcel], deadLetters: { archive: folderArchive("archive") },',
);

onPostgres("pawl explain and pawl dead", () => {
  const { pawl } = projectOnPostgres(config);

  test("say why it failed, and let a person decide", async () => {
    await pawl("instance", "start", "parcel", "--key", "p1", "--data", '{"address":"Elm 3"}');
    await pawl("instance", "send", "parcel", "p1", "fail", "--payload", '{"reason":"wet"}');
    const explained = await pawl("explain", "parcel", "p1");
    expect(explained).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^`parcel` "p1" has been in `failed` since /),
    });
    expect(explained.stdout).toMatch(/\nIt failed in `packed` at .*: wet\.\n/);
    expect(explained.stdout).toMatch(/\nIt has been stuck since .* Requeue or discard the dead letter\.\n/);
    const listed = await pawl("dead", "--json");
    const [letter] = JSON.parse(listed.stdout) as { id: string; instance: string; status: string }[];
    expect(JSON.parse((await pawl("explain", letter!.instance, "--json")).stdout)).toMatchObject({
      stuck: { reason: "dead_letter" },
      recovery: { failures: 1, next: { kind: "person", deadLetter: letter!.id } },
    });
    const shown = await pawl("dead", "show", letter!.id);
    expect(shown.stdout).toMatch(/^about {5}parcel p1, failed in \w+\n/);
    const requeued = await pawl("dead", "requeue", letter!.id, "--actor", "ada", "--reason", "dry again");
    expect(requeued).toMatchObject({ code: 0, stdout: expect.stringContaining("\trequeued\t") });
    const waiting = {
      code: 0,
      stdout: expect.stringContaining("It waits for `ship` or `hurry`, without a time limit (`forever`)."),
    };
    expect(await pawl("explain", "parcel", "p1")).toMatchObject(waiting);
    expect(await pawl("explain", "parcel", "nobody")).toMatchObject({ code: 3 });
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
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("Use --yes") });
    const done = await pawl("dead", "requeue", ...those, "--yes", "--rate", "100", "--actor", "ada", "--reason", "dry");
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("\tdone\t2/2\t2 requeued\tada\tdry") });
    expect((await pawl("dead", "archive", "--older-than", "0s")).stdout).toMatch(
      /^\d dead letters were archived in 1 file/,
    );
    expect((await pawl("dead", "restore", "--all")).stdout).toMatch(/^[1-9] dead letters were restored from 1 file/);
  }, 120_000);
});
