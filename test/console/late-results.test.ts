import { type HttpServer, serveHttp } from "pawl/http";
import { memoryBroker } from "pawl/testing";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { builtPages } from "../setup/compile.ts";
import { inBrowser } from "../setup/suites.ts";
import { axeFaults, sideways } from "../support/pages/axe.ts";
import { openBrowser, openPage } from "../support/pages/browser.ts";
import { submission } from "../support/submission.ts";

inBrowser("late results", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  let page: Page;
  let troubles: string[];

  beforeAll(async () => {
    t = await testPawl({ lifecycles: [submission] });
    server = await serveHttp(t.pawl, { port: 0, pages: builtPages() });
    browser = await openBrowser();
    ({ page, troubles } = await openPage(browser));
    await page.goto(`${server.url}/sign-in/${await t.pawl.access.createSignInCode({ name: "ada", role: "operator" })}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await t.close();
  });

  test("a result that came too late is shown with its payload, and accepted by a person", async () => {
    const { id } = await t.pawl.start(submission, { key: "s-1", data: { skill: "writing" } });
    await t.work();
    await t.advance("21m");
    expect(await t.pawl.receive(submission, "s-1", "graded", { score: 7 }, { dedupeKey: "r-1" })).toMatchObject({
      late: true,
    });
    await page.goto(`${server.url}/instances/${id}`);
    const banner = page.getByRole("region", { name: "Late results" });
    await banner.getByText("score: 7").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await sideways(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    await banner.getByRole("button", { name: "Accept late result…" }).click();
    await page.getByRole("dialog").getByLabel("Reason").fill("the grader was slow");
    await page.getByRole("dialog").getByRole("button", { name: "Accept late result" }).click();
    await page.getByText("graded was accepted.").waitFor();
    await banner.waitFor({ state: "detached" });
    expect(await t.pawl.get(submission, "s-1")).toMatchObject({ state: "scored", data: { score: 7 } });
    await page.getByRole("region", { name: "Callbacks" }).getByText("accepted").waitFor();
    expect(troubles).toEqual([]);
  });

  test("the outbox says that this process has no broker, and names no lag for it", async () => {
    await page.goto(`${server.url}/outbox`);
    await page.getByText("No broker is configured").waitFor();
    const other = await testPawl({ lifecycles: [submission], outbox: { brokers: [memoryBroker()] } });
    const second = await serveHttp(other.pawl, { port: 0, pages: builtPages() });
    const code = await other.pawl.access.createSignInCode({ name: "ada", role: "operator" });
    await page.goto(`${second.url}/sign-in/${code}`);
    await page.goto(`${second.url}/outbox`);
    await page.getByText("The outbox is empty").waitFor();
    expect(await page.getByText("No broker is configured").count()).toBe(0);
    await second.close();
    await other.close();
  });
});
