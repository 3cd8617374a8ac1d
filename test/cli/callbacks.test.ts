import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { build, newProject, type PawlCommand, type Project } from "./pawl-command.ts";

const config = `
import { writeFileSync } from "node:fs";
import { defineConfig, lifecycle } from "pawl";
import { z } from "zod";

const essay = lifecycle("essay", {
  data: z.object({ within: z.string(), score: z.number().optional() }),
  events: { graded: z.object({ score: z.number() }) },
  initial: "submitted",
  deadline: { within: ({ data }) => data.within },
  states: {
    submitted: {
      run: async (step) => writeFileSync("token-" + step.key, await step.callbackToken("graded")),
      on: { requested: "grading" },
    },
    grading: { on: { graded: { to: "scored", set: ({ payload }) => ({ score: payload.score }) } } },
    scored: { final: "success" },
  },
});
export default defineConfig({ lifecycles: [essay], http: { port: 0 } });
`;

interface Shown {
  readonly id: string;
}

beforeAll(build, 120_000);

describe("a Pawl that answers over HTTP", () => {
  let project: Project;
  let running: PawlCommand;
  let url: string;
  beforeAll(async () => {
    project = newProject({ "pawl.config.mjs": config });
    running = await project.start();
    url = /HTTP +(http:\/\/127\.0\.0\.1:\d+) +\/callbacks/.exec(running.stdout)![1]!;
  });
  afterAll(() => project.remove());

  async function submitted(key: string, within: string, state: string): Promise<string> {
    await project.json("instance", "start", "essay", "--key", key, "--data", JSON.stringify({ within }));
    await project.json("instance", "wait", "essay", key, "--until", state, "--timeout", "20s");
    return readFileSync(project.path(`token-${key}`), "utf8");
  }
  async function answer(token: string, body: unknown): Promise<unknown> {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/callbacks/${token}`, { method: "POST", headers, body: JSON.stringify(body) });
    return response.json();
  }

  test("takes callbacks, which are listed and shown", async () => {
    const token = await submitted("in-time", "1h", "grading");
    expect(await answer(token, { payload: { score: 7 }, dedupeKey: "request-1" })).toMatchObject({
      accepted: true,
      late: false,
    });
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    const [one] = await project.json<Shown[]>("callbacks", "list", "essay", "in-time");
    expect(one).toMatchObject({
      key: "in-time",
      dedupeKey: "request-1",
      status: "applied",
      late: false,
      source: "token",
    });
    const shown = await project.pawl("callbacks", "show", one!.id);
    expect(shown.stdout).toMatch(/payload +\{"score":7\}/);
    expect(await project.pawl("callbacks", "show", "01900000-0000-7000-8000-000000000000")).toMatchObject({ code: 3 });
  });

  test("keeps a late one, which somebody accepts", async () => {
    const token = await submitted("too-late", "1s", "failed");
    expect(await answer(token, { payload: { score: 9 } })).toMatchObject({ accepted: true, late: true });
    const [late] = await project.json<Shown[]>("callbacks", "list", "essay", "--late");
    expect(late).toMatchObject({ key: "too-late", status: "kept", late: true });
    expect(await project.json("instance", "show", "essay", "too-late")).toMatchObject({ late: [{ id: late!.id }] });
    const accepted = await project.json("callbacks", "accept", late!.id, "--actor", "grace", "--reason", "slow day");
    expect(accepted).toMatchObject({ state: "scored", data: { score: 9 } });
    expect(await project.pawl("callbacks", "accept", late!.id)).toMatchObject({ code: 4 });
    const { journal } = await project.json<{ journal: unknown[] }>("instance", "show", "essay", "too-late");
    expect(journal.at(-1)).toMatchObject({ event: "accept_late", actor: "grace", reason: "slow day" });
  });

  test("a config that would be open to strangers is refused", async () => {
    const open = newProject({ "pawl.config.mjs": config.replace("{ port: 0 }", '{ host: "0.0.0.0" }') });
    expect(await open.pawl("start")).toMatchObject({ code: 1, stderr: expect.stringContaining("http.token") });
    await open.remove();
  });

  test("lets go of its port when it ends", async () => {
    await running.end();
    await vi.waitFor(() => expect(fetch(`${url}/health`)).rejects.toThrow());
  });
});
