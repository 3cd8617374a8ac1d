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

const waits = (name: string) =>
  lifecycle(name, {
    data: z.object({}),
    initial: "open",
    states: { open: { forever: true, on: { ended: "gone" } }, gone: { final: "success" } },
  });
/** The one that comes first by its name has the same keys, and more of them than a page. */
const [invoice, order] = [waits("invoice"), waits("order")];
const keys = Array.from({ length: 150 }, (_, at) => `order-${String(at).padStart(3, "0")}`);

inBrowser("the list of instances", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  let page: Page;
  let troubles: string[];

  beforeAll(async () => {
    t = await testPawl({ lifecycles: [invoice, order] });
    const starts = keys.map((key) => ({ key, data: {} }));
    await t.pawl.startMany(invoice, starts);
    await t.pawl.startMany(order, starts);
    await t.pawl.startMany(order, [{ key: `<b>${"long/".repeat(60)}`, data: {} }]);
    const failing = keys.filter((_, at) => at % 2 === 0);
    await t.pawl.sendMany(
      order,
      failing.map((to) => ({ to, event: "fail" as const })),
    );
    server = await serveHttp(t.pawl, { port: 0, pages: builtPages() });
    browser = await openBrowser();
    ({ page, troubles } = await openPage(browser));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${server.url}/sign-in/${await t.pawl.access.createSignInCode({ name: "ada", role: "operator" })}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await t.close();
  });

  const go = (query: string) => page.goto(`${server.url}/instances?${query}`);
  const copied = async (what: string, begin: RegExp) => {
    await page.getByLabel("More actions for instances").click();
    await page.getByRole("button", { name: what }).click();
    await page.keyboard.press("Escape");
    const read = () => page.evaluate<string>("navigator.clipboard.readText()");
    await expect.poll(read).toMatch(begin);
    return read();
  };

  test("a key and a state are found among all instances of their lifecycle, counted and paged", async () => {
    await go("lifecycle=order&state=failed&key=order-");
    await page.getByText("50 of 75 instances").waitFor();
    await page.getByRole("cell", { name: "order-000" }).waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("75 instances", { exact: true }).waitFor();
    expect(await page.getByRole("row").count()).toBe(76);
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    await page.getByLabel("Key or id").fill("order-14");
    await page.getByText("5 instances", { exact: true }).waitFor();
    expect(page.url()).toMatch(/state=failed&key=order-14$/);
  });

  test("the copied commands have every filter of the page, and find the same", async () => {
    await page.getByRole("combobox", { name: "Not moved" }).selectOption("10m");
    await page.getByText("No matching instances").waitFor();
    await page.getByRole("combobox", { name: "Started" }).selectOption("1h");
    await page.getByLabel("Reason of the failure").fill("dead");
    await page.waitForURL(/failure=dead/);
    const filters = ["--state failed", "--key order-14", "--failure dead", "--older-than 1h", "--idle-for 10m"];
    const command = await copied("Copy as CLI", /^pawl instance list order /);
    for (const one of filters) expect(command).toContain(one);
    const curl = await copied("Copy as curl", /^curl /);
    for (const one of ["state=failed", "key=order-14", "failure=dead", "olderThan=1h", "idleFor=10m"])
      expect(curl).toContain(one);
  });

  test("an id is found in every lifecycle", async () => {
    const { id } = (await t.pawl.get(invoice, "order-001"))!;
    await go(`lifecycle=order&key=${id}`);
    await page.getByText("1 instance", { exact: true }).waitFor();
    await page.getByRole("link", { name: "order-001" }).waitFor();
  });

  test("keys that are long or look like HTML are shown whole, in a narrow window too", async () => {
    await go("lifecycle=order&key=%3Cb%3E");
    await page.getByRole("link", { name: /^<b>long\/long/ }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await sideways(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(troubles).toEqual([]);
  });
});
