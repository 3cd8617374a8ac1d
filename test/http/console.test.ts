import { lifecycle } from "pawl";
import { type HttpServer, serveHttp } from "pawl/http";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { builtPages } from "../setup/compile.ts";
import { inBrowser } from "../setup/suites.ts";
import { openBrowser, openPage } from "../support/browser.ts";

const parcel = lifecycle("parcel", {
  data: z.object({ weight: z.number() }),
  initial: "packed",
  states: { packed: { forever: true, on: { sent: "away" } }, away: { final: "success" } },
});

inBrowser("the console", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  beforeAll(async () => {
    t = await testPawl({ lifecycles: [parcel] });
    server = await serveHttp(t.pawl, { port: 0, pages: builtPages() });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await t.close();
  });

  test("a link signs in and leads to the overview, and from there to the diagram of a lifecycle", async () => {
    const { page, troubles } = await openPage(browser);
    await t.pawl.start(parcel, { data: { weight: 1 } });
    await page.goto(`${server.url}/sign-in/${await t.pawl.access.createCode({ name: "ada", role: "viewer" })}`);
    await page.getByRole("link", { name: "parcel" }).click();
    await page.getByRole("heading", { name: "parcel" }).waitFor();
    await page.locator("svg text", { hasText: "packed" }).waitFor();
    expect(troubles).toEqual([]);
  });
});
