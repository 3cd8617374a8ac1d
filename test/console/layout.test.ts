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

const long = `customer/${"a-very-long-part-of-a-key/".repeat(12)}<b>end</b>`;
const rows = Array.from({ length: 400 }, (_, id) => ({ id, name: `Row ${id} <b>bold</b>`, tags: ["alpha", "beta"] }));
const order = lifecycle("order", {
  data: z.object({ big: z.unknown().optional(), weight: z.number().optional() }),
  initial: "waiting_for_the_customer_who_lives_far_away_mmmmwwwwmmmm",
  states: {
    waiting_for_the_customer_who_lives_far_away_mmmmwwwwmmmm: { forever: true, on: { paid: "packing" } },
    packing: {
      run: (step) => {
        if ((step.data.weight ?? 0) > 50) throw new Error("The scales end at 50 kg.");
      },
      retry: { maxAttempts: 2, backoff: () => 0 },
      on: { packed: "gone" },
    },
    gone: { final: "success" },
  },
});

inBrowser("pages with long names and much data", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  let page: Page;
  let troubles: string[];
  let id: string;

  beforeAll(async () => {
    t = await testPawl({ lifecycles: [order] });
    ({ id } = await t.pawl.start(order, { key: long, data: { big: { rows }, weight: 99 } }));
    await t.pawl.send(order, { id }, "paid");
    await t.work();
    await t.advance("1m");
    await t.work();
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

  test("the console is small: all that its first page loads, packed, is less than 80 KB", async () => {
    const sizes = await page.evaluate<[string, number][]>(
      `performance.getEntriesByType("resource").map((one) => [one.name, one.encodedBodySize])
        .filter(([name]) => name.includes("/assets/"))`,
    );
    expect(sizes.some(([name]) => name.endsWith(".js"))).toBe(true);
    expect(sizes.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(80_000);
    expect(sizes.every(([name]) => name.startsWith(server.url))).toBe(true);
  });

  test("much JSON keeps its height, opens by parts and can be searched", async () => {
    await page.goto(`${server.url}/instances/${id}`);
    const content = page.getByRole("region", { name: "Content of the data" });
    await content.getByText("{ 2 }").waitFor();
    await page.getByRole("group", { name: "How the data is shown" }).getByRole("button", { name: "Raw" }).click();
    await content.getByText("Row 399 <b>bold</b>").waitFor();
    expect((await content.boundingBox())!.height).toBeLessThanOrEqual(420);
    await page.getByLabel("Search in the data").fill("row 321");
    await content.getByText("big.rows.321.name").waitFor();
    expect(await content.locator(".json-leaf").count()).toBe(1);
    await page.getByLabel("Search in the data").fill("");
    await page.getByRole("group", { name: "How the data is shown" }).getByRole("button", { name: "Tree" }).click();
    await content.getByText("rows: [ 400 ]").click();
    await content.getByRole("button", { name: "300 more" }).waitFor();
  });

  test("names stay inside their boxes, and a failed instance has a diagram that can be read and enlarged", async () => {
    const diagram = page.getByRole("region", { name: "Diagram" });
    await diagram.getByText("packing").waitFor();
    expect(await diagram.getByText("restart").count()).toBe(0);
    await diagram.getByText("fail", { exact: true }).waitFor();
    const width = async () => (await diagram.locator("svg").boundingBox())!.width;
    const before = await width();
    await page.getByRole("button", { name: "Larger" }).click();
    await expect.poll(width).toBeGreaterThan(before * 1.3);
    await page.goto(`${server.url}/lifecycles/order`);
    await diagram.getByText("packing").waitFor();
    const outside = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".diagram g.node")].flatMap((node) => {
        const [text, shape] = [node.querySelector("text"), node.querySelector("polygon, path, ellipse")];
        if (text === null || node.querySelector(".badge text") === text) return [];
        const [inner, outer] = [text.getBoundingClientRect(), shape.getBoundingClientRect()];
        return inner.left >= outer.left && inner.right <= outer.right ? [] : [text.textContent];
      })`,
    );
    expect(outside).toEqual([]);
  });

  test("attempts are shown with worker, start, duration and error, next to the visits", async () => {
    await page.goto(`${server.url}/instances/${id}`);
    const attempts = page.getByRole("region", { name: "Attempts" });
    await attempts.getByRole("row").filter({ hasText: "The scales end at 50 kg." }).first().waitFor();
    expect(await attempts.getByRole("row").filter({ hasText: "test-worker" }).count()).toBe(2);
    expect(await axeFaults(page)).toEqual([]);
  });

  test("the events of a step are behind a warning, those that a person should send in sight", async () => {
    const waiting = await t.pawl.start(order, { key: "w", data: {} });
    await page.goto(`${server.url}/instances/${waiting.id}`);
    await page.getByRole("button", { name: "paid" }).waitFor();
    await t.pawl.send(order, "w", "paid");
    await page.getByText("packing", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "paid" }).waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "packed" }).count()).toBe(0);
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("group", { name: "Sent by the worker of its step" }).getByText("packed").click();
    await page.getByRole("dialog").getByText("the worker of its step sends this event").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  test.each([390, 640])("no page is wider than a window of %d pixels, and its actions are in reach", async (width) => {
    await page.setViewportSize({ width, height: 800 });
    for (const path of [`/instances/${id}`, "/instances?lifecycle=order", "/lifecycles/order", "/dead", "/"]) {
      await page.goto(`${server.url}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("networkidle").catch(() => {});
      expect([path, await sideways(page)]).toEqual([path, 0]);
    }
    await page.goto(`${server.url}/instances/${id}`);
    const box = (await page.getByRole("button", { name: "Retry" }).boundingBox())!;
    expect(box.x + box.width).toBeLessThanOrEqual(width);
    expect(troubles).toEqual([]);
  });
});
