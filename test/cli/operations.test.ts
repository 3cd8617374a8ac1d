import { expect, test } from "vitest";
import { onPostgres } from "../setup/suites.ts";
import { projectOnPostgres } from "./on-postgres.ts";
import { parcelConfig } from "./pawl-command.ts";

onPostgres("pawl operations", () => {
  const { pawl } = projectOnPostgres(parcelConfig);

  test("decides about many instances after a preview, lists what was done, and exports", async () => {
    for (const key of ["a", "b"])
      await pawl("instance", "start", "parcel", "--key", key, "--data", '{"address":"Elm 3"}');
    const those = ["parcel", "--older-than", "0s", "--state", "packed"];
    const looked = await pawl("operations", "discard", ...those, "--dry-run", "--json");
    expect(JSON.parse(looked.stdout)).toMatchObject({ instances: 2, outcomes: { discarded: 2 } });
    expect(await pawl("operations", "discard", "parcel", "--yes")).toMatchObject({ code: 2 });
    const unasked = await pawl("operations", "discard", ...those);
    expect(unasked).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Use --yes to discard these 2 instances"),
    });
    const exported = (await pawl("operations", "export", ...those)).stdout.trim().split("\n");
    expect(exported.map((line) => (JSON.parse(line) as { key: string }).key)).toEqual(["a", "b"]);
    const by = ["--yes", "--actor", "ada", "--reason", "wet"];
    const failed = await pawl("operations", "send", "parcel", "fail", "--state", "packed", ...by);
    expect(failed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("send fail\tdone\t2/2\t2 sent\tada\twet"),
    });
    const recovered = await pawl("operations", "recover", "parcel", "--state", "failed", ...by);
    expect(recovered).toMatchObject({ code: 0, stdout: expect.stringContaining("recover\tdone\t2/2\t2 recovered") });
    const done = await pawl("operations", "discard", ...those, ...by, "--rate", "100");
    expect(done).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("discard\tdone\t2/2\t2 discarded\tada\twet"),
    });
    const [newest] = JSON.parse((await pawl("operations", "--json")).stdout) as { id: string; decision: string }[];
    expect(newest).toMatchObject({ decision: "discard", subject: "instances" });
    expect(await pawl("operations", "abort", newest!.id)).toMatchObject({ code: 4 });
  }, 60_000);
});
