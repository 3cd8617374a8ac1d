import { expect, test } from "vitest";
import { onPostgres } from "../setup/suites.ts";
import { projectOnPostgres } from "./on-postgres.ts";

const config = `
import { defineConfig, job } from "pawl";

const mail = job("mail", { limit: 2, rate: "100/m", run: (step) => console.log("mailed " + step.key) });
const never = job("never", { run: () => { console.log("begun"); return new Promise(() => {}); } });

export default defineConfig({ lifecycles: [mail, never] });
`;

onPostgres("workers, lanes and jobs", () => {
  const { begin, pawl } = projectOnPostgres(config);
  const json = async (...args: string[]) => JSON.parse((await pawl(...args, "--json")).stdout);

  test("jobs are enqueued, listed and shown, lanes paused and resumed, and workers seen", async () => {
    const paused = await json("pause", "mail", "--reason", "out of stamps", "--actor", "ada");
    expect(paused).toMatchObject([{ lane: "mail@1/pending", limit: 2, rate: "100/m", closed: { actor: "ada" } }]);
    const one = await json("jobs", "enqueue", "mail", "--payload", "{}", "--key", "m1", "--priority", "-3");
    expect(one).toMatchObject({ job: "mail", key: "m1", status: "pending", created: true });
    const again = await json("jobs", "enqueue", "mail", "--key", "m1", "--after", "1h");
    expect(again).toMatchObject({ id: one.id, created: false });
    const working = begin("work", "--concurrency", "3", "--lane", "mail");
    await working.says("concurrency 3");
    expect(await pawl("lanes")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^lane\tready\tscheduled\trunning\toldest\tlimit\trate\teach\tclosed\nmail@1\/pending\t1\t0\t0\t\d+\t2\t100\/m\t\t\S+Z ada out of stamps\nnever@1\/pending\t0\t0\t0\t\t\t\t\t\n$/,
      ),
    });
    expect(await pawl("workers")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^worker\tstate\tClaiming\tProcessing\tReportingSuccess\tReportingFailure\tstuck\tslots\theartbeat\tstarted\tpawl\tlanes\trunning\n\S+\t[A-Z]\w+\t0\t0\t0\t0\t0\t3\t\S+Z\t\S+Z\t\d\S+\t\d+\t\n$/,
      ),
    });
    expect(await pawl("jobs", "mail", "--status", "pending")).toMatchObject({
      stdout: expect.stringContaining("mail\tm1\tpending\t0\t"),
    });
    expect(await json("resume", "mail@1/pending")).toMatchObject([{ closed: null }]);
    await working.says("mailed m1");
    expect(await pawl("instance", "wait", "mail", "m1")).toMatchObject({ code: 0 });
    const shown = await json("jobs", "show", "mail", "m1");
    expect(shown).toMatchObject({
      status: "done",
      payload: {},
      history: [{ event: "start" }, { what: "claimed" }, {}],
    });
    expect(await working.end()).toMatchObject({ code: 0 });
    expect(await json("workers")).toEqual([]);
    expect(await pawl("jobs", "show", "mail", "nobody")).toMatchObject({ code: 3 });
    expect(await pawl("jobs", "enqueue", "mial")).toMatchObject({ code: 3, stderr: expect.stringContaining('"mail"') });
    expect(await pawl("pause", "mail/done", "--reason", "x")).toMatchObject({ code: 2 });
    expect(await pawl("work", "--lane", "mial")).toMatchObject({ code: 2 });
  }, 60_000);

  test("R95 SIGTERM lets what runs finish, a second one ends the worker on the spot", async () => {
    const working = begin("work", "--lane", "never");
    await json("jobs", "enqueue", "never", "--key", "n1");
    await working.says("begun");
    working.signal("SIGTERM");
    await working.says("finishing running steps");
    expect(await json("jobs", "show", "never", "n1")).toMatchObject({ status: "running" });
    expect(await working.end("SIGTERM")).toMatchObject({ code: 130 });
    const left = expect.objectContaining({ stopping: true, tasks: { "never@1/pending": 1 } });
    expect(await json("workers"), "its row stays, to be shown as silent").toContainEqual(left);
  }, 60_000);
});
