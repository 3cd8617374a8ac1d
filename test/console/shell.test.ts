import { lifecycle } from "pawl";
import { type HttpServer, serveHttp } from "pawl/http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { builtPages } from "../setup/compile.ts";
import { inBrowser } from "../setup/suites.ts";
import { axeFaults, sideways } from "../support/pages/axe.ts";
import { openBrowser, openPage } from "../support/pages/browser.ts";

const long = `customer/${"a-very-long-part-of-a-key/".repeat(12)}end`;
const order = lifecycle("order", {
  data: z.object({}),
  initial: "waiting_for_a_very_long_time_in_a_state_with_a_long_name",
  states: {
    waiting_for_a_very_long_time_in_a_state_with_a_long_name: { forever: true, on: { ended: "gone" } },
    gone: { final: "success" },
  },
});

inBrowser("the frame of the console", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    t = await testPawl({ lifecycles: [order] });
    await t.pawl.start(order, { key: long, data: {} });
    server = await serveHttp(t.pawl, { port: 0, pages: builtPages() });
    browser = await openBrowser();
    ({ page } = await openPage(browser));
    await page.goto(`${server.url}/sign-in/${await t.pawl.access.createSignInCode({ name: "ada", role: "operator" })}`);
    await heading("Overview");
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await t.close();
  });

  const heading = (name: string | RegExp) => page.getByRole("heading", { name, level: 1 }).waitFor();
  const link = (name: string) => page.getByRole("navigation", { name: "Pages" }).getByText(name, { exact: true });
  const focused = () => page.evaluate<string>("document.activeElement.id");

  test("each page names its window, takes the focus and is announced", async () => {
    await page.waitForFunction('document.title === "Overview · Pawl"');
    await link("Workers").click();
    await heading("Workers");
    await page.waitForFunction('document.title === "Workers · Pawl"');
    expect(await focused()).toBe("content");
    await page.locator("[aria-live=polite]", { hasText: "Workers, page" }).waitFor({ state: "attached" });
    await page.goBack();
    await heading("Overview");
    await page.waitForFunction('document.title === "Overview · Pawl"');
  });

  test("the link past the navigation stays on its page", async () => {
    await page.goto(`${server.url}/workers`);
    await heading("Workers");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await focused()).toBe("content");
    expect(new URL(page.url()).pathname).toBe("/workers");
  });

  test("the search shows long names on one line each, and one Escape closes it", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("customer/");
    const option = page.getByRole("option", { name: /^customer/ });
    await option.waitFor();
    expect((await option.boundingBox())!.height).toBeLessThan(45);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Search" }).waitFor({ state: "detached" });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.keyboard.press("/");
    await page.keyboard.type("customer/");
    await option.waitFor();
    expect(await sideways(page)).toBe(0);
    await page.keyboard.press("Enter");
    await heading(/^customer/);
    expect(await sideways(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test("a path without a page says so, in the console and to other clients", async () => {
    const response = await page.goto(`${server.url}/no/such/page`);
    expect(response?.status()).toBe(404);
    await heading("Page not found");
    await page.getByText("/no/such/page").waitFor();
    await page.waitForFunction('document.title === "Page not found · Pawl"');
    const other = await fetch(`${server.url}/no/such/page`);
    expect([other.status, other.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
    expect(
      (await fetch(`${server.url}/api/nothing`, { headers: { accept: "text/html" } })).headers.get("content-type"),
    ).toBe("application/problem+json");
  });

  test("every page says at once that Pawl is away, claims nothing, and recovers by itself", async () => {
    await page.goto(server.url);
    await page.getByText("Nothing needs attention.").waitFor();
    const { port } = new URL(server.url);
    await server.close();
    const banner = page.getByRole("alert").filter({ hasText: "Pawl does not respond" });
    await banner.waitFor();
    await page.getByText("Not known while there is no response.").waitFor();
    await page.getByRole("button", { name: "Disconnected" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await link("Instances").click();
    await heading("Instances");
    await banner.waitFor();
    server = await serveHttp(t.pawl, { port: Number(port), pages: builtPages() });
    await banner.waitFor({ state: "detached" });
    await page.getByRole("link", { name: /^customer/ }).waitFor();
    await page.getByRole("button", { name: "Live" }).waitFor();
  });

  test("a page that is opened while the database is away waits for it", async () => {
    const { context } = { context: page.context() };
    const isAway = { type: "about:blank", title: "Service unavailable", status: 503, code: "database_unreachable" };
    const answer = { status: 503, contentType: "application/problem+json", body: JSON.stringify(isAway) };
    await context.route(/\/(?:api\/session|ready)$/, (route) => route.fulfill(answer));
    await page.goto(`${server.url}/workers`);
    await page.getByText("The database does not respond").waitFor();
    await context.unrouteAll();
    await heading("Workers");
  });
});
