import { expect, test } from "vitest";
import { onPostgres } from "../setup/suites.ts";
import { projectOnPostgres } from "./on-postgres.ts";

const config = `
import { defineConfig } from "pawl";

export default defineConfig({ lifecycles: [] });
`;

onPostgres("pawl token and pawl sign-in", () => {
  const { pawl } = projectOnPostgres(config);

  test("give out a token whose secret is printed once, list it, and take it back", async () => {
    const made = await pawl("token", "create", "ada", "--role", "labeler", "--expires-in", "30d");
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^pawl_[\w-]{43}\n$/) });
    const [, id] = /pawl token revoke (\S+)/.exec(made.stderr) ?? [];
    const listed = await pawl("token");
    expect(listed.stdout).toMatch(
      new RegExp(`^id\tname\trole\tlabeler\t.*\n${id}\tada\tlabeler\tada\t\\S+Z\t\\S+Z\t\n$`),
    );
    expect(await pawl("token", "revoke", id!)).toMatchObject({ code: 0 });
    expect(await pawl("token", "revoke", id!)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("does not exist"),
    });
    const stranger = await pawl("token", "create", "eve", "--role", "root");
    expect(stranger).toMatchObject({ code: 2, stderr: expect.stringContaining('"viewer", "operator"') });
  }, 60_000);

  test("list who is signed in, and end it", async () => {
    expect(await pawl("session")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^id\tname\trole\t.*\n$/) });
    expect(await pawl("session", "revoke", "01b8dd58-e200-7001-9beb-f7b99343f5ec")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("does not exist"),
    });
  }, 60_000);

  test("print a link to the console that is meant", async () => {
    const [here, there, nowhere] = await Promise.all([
      pawl("sign-in", "--name", "ada", "--role", "viewer"),
      pawl("sign-in", "--at", "https://work.example/pawl/"),
      pawl("sign-in", "--at", "work.example"),
    ]);
    expect(here).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^http:\/\/127\.0\.0\.1:7295\/sign-in\/pawl_[\w-]{43}\n$/),
      stderr: expect.stringContaining("signs ada in as viewer"),
    });
    expect(there.stdout).toMatch(/^https:\/\/work\.example\/pawl\/sign-in\/pawl_/);
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining("work.example") });
  }, 60_000);
});
