import { expect, test } from "vitest";
import { onPostgres } from "../setup/suites.ts";
import { projectOnPostgres } from "./on-postgres.ts";

const config = `
import { defineConfig, job } from "pawl";

const ask = job("ask", { uses: "llm", run: () => {} });

export default defineConfig({ lifecycles: [ask], breakers: { llm: { probes: 3 } } });
`;

onPostgres("pawl breakers", () => {
  const { pawl } = projectOnPostgres(config);
  const breakers = (...args: string[]) => pawl("breakers", ...args);

  test("shows them, holds one open with a reason, lets go of it, and tells its history", async () => {
    expect(await breakers()).toMatchObject({
      code: 0,
      stdout: "breaker\tstate\tsince\tuntil\tcalls\tfailed\tused_by\twhy\nllm\tclosed\t\t\t0\t0\task/pending\t\n",
    });
    const opened = await breakers("open", "llm", "--reason", "an outage", "--actor", "ada", "--json");
    expect(JSON.parse(opened.stdout)).toMatchObject({ state: "open", forced: "open", probes: { needed: 3 } });
    expect(await breakers("list")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\nllm\tforced open\t\S+Z\t\t0\t0\task\/pending\tada: an outage\n$/),
    });
    expect(await breakers("release", "llm")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nllm\thalf-open 0/3\t"),
    });
    expect(await breakers("close", "llm")).toMatchObject({ code: 2, stderr: expect.stringContaining("--reason") });
    expect(await breakers("history", "llm")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^change\twhen\tfrom\tto\tcause\twhy\n2\t\S+Z\topen\thalf_open\treleased\t\n1\t\S+Z\tclosed\topen\tforced\tada: an outage\n$/,
      ),
    });
    expect(await breakers("open", "lmm", "--reason", "x")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Did you mean "llm"?'),
    });
  }, 60_000);
});
