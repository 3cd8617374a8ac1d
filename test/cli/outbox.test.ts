import { expect, test } from "vitest";
import { onPostgres } from "../setup/suites.ts";
import { projectOnPostgres } from "./on-postgres.ts";

const config = `
import { defineConfig, job, PermanentError } from "pawl";
import { memoryBroker } from "pawl/testing";

const broker = memoryBroker();
broker.on("bad.*", () => {
  throw new PermanentError("It is bad.");
});
const speak = job("speak", { run: () => {} });

export default defineConfig({ lifecycles: [speak], outbox: { brokers: [broker], pollInterval: "50ms" } });
`;

onPostgres("pawl outbox", () => {
  const { begin, pawl } = projectOnPostgres(config, async (db) => {
    for (const [n, type] of ["bad.one", "good", "bad.two"].entries()) {
      await db.script(`
        insert into pawl.messages (id, aggregate_id, aggregate_type, message_type, payload, created_at)
        values ('00000000-0000-7000-8000-00000000000${n}', '${n}', 'thing', '${type}', '{}', pawl.now())`);
    }
  });
  const outbox = (...args: string[]) => pawl("outbox", ...args);
  const counts = async () => {
    const { stdout } = await outbox("--json");
    return JSON.parse(stdout) as { pending: number; dead: number };
  };

  test("shows what waits and what was given up; a relay sends it; requeue and discard decide about the dead", async () => {
    expect(await outbox()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^type\tpending\theld\tdead\toldest\nbad\.one\t1\t0\t0\t\S+\nbad\.two/),
    });
    const relaying = begin("relay");
    await relaying.says("Relay ");
    while ((await counts()).dead < 2);
    expect(await relaying.end()).toMatchObject({ code: 0 });
    expect(await counts()).toMatchObject({ pending: 0, dead: 2 });
    const listed = await outbox("list", "--status", "dead", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { type: "bad.one", aggregate: { type: "thing", id: "0" }, status: "dead", error: "It is bad.", retryCount: 1 },
      { type: "bad.two" },
    ]);
    expect(await outbox("discard")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Name the dead messages"),
    });
    expect(await outbox("requeue", "00000000-0000-7000-8000-000000000000")).toMatchObject({
      code: 0,
      stdout: "1 message requeued.\n",
    });
    expect(await outbox("discard", "--type", "bad.two", "--json")).toMatchObject({ stdout: '{"messages":1}\n' });
    expect(await counts()).toMatchObject({ pending: 1, dead: 0 });
  }, 60_000);
});
