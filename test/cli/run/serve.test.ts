import { afterAll, beforeAll, expect, test } from "vitest";
import { portOf, serveUnlessForbidden } from "../../../src/cli/run/serve.ts";
import type { HttpServer } from "../../../src/http/serve.ts";
import { type TestPawl, testPawl } from "../../../src/testing/test-pawl.ts";

let t: TestPawl;
const servers: HttpServer[] = [];
beforeAll(async () => {
  t = await testPawl({ lifecycles: [] });
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await t.close();
});

async function serve(http?: { port?: number } | false, port?: number): Promise<HttpServer | undefined> {
  const server = await serveUnlessForbidden(t.pawl, { http }, port);
  if (server !== undefined) servers.push(server);
  return server;
}

test("whoever asks for no port gets the next one that is free, and who asks for one gets that or is told", async () => {
  const first = await serve();
  const second = await serve({});
  expect(second!.port).toBeGreaterThan(first!.port);
  await expect(serve(undefined, first!.port)).rejects.toMatchObject({
    code: "option_invalid",
    message: expect.stringContaining(`Could not listen on 127.0.0.1:${first!.port}`),
  });
  await expect(serve({ port: first!.port })).rejects.toMatchObject({ code: "option_invalid" });
  expect(await (await fetch(`${(await serve({ port: first!.port }, 0))!.url}/health`)).json()).toEqual({
    status: "ok",
  });
});

test("a config can forbid it, and a port is a number", async () => {
  expect(await serve(false)).toBeUndefined();
  expect(portOf("8080")).toBe(8080);
  for (const given of ["many", "", "70000", "-1", "80.5"])
    expect(() => portOf(given)).toThrow(expect.objectContaining({ code: "option_invalid" }));
});
