import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { lifecycle } from "pawl";
import { httpApp } from "pawl/http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { builtPages } from "../setup/compile.ts";
import { inBrowser } from "../setup/suites.ts";
import { openBrowser, openPage } from "../support/pages/browser.ts";

const parcel = lifecycle("parcel", {
  data: z.object({ weight: z.number() }),
  initial: "packed",
  states: { packed: { forever: true, on: { sent: "away" } }, away: { final: "success" } },
});
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

inBrowser("the page of the API", () => {
  let t: TestPawl;
  let server: ReturnType<typeof serve>;
  let url: string;
  let browser: Browser;
  beforeAll(async () => {
    t = await testPawl({ lifecycles: [parcel] });
    // In a server of somebody else's, below a path: nothing on the page may begin at the root.
    const app = new Hono().route("/pawl", httpApp(t.pawl, { base: "/pawl", pages: builtPages() }));
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}/pawl`;
    browser = await openBrowser();
    await t.pawl.start(parcel, { key: "p1", data: { weight: 1 } });
  });
  afterAll(async () => {
    await browser.close();
    server.close();
    await t.close();
  });

  async function open(role: "operator" | "viewer", at: string, width = 1280) {
    const opened = await openPage(browser, { width, height: 900 });
    const code = await t.pawl.access.createSignInCode({ name: "ada", role });
    await opened.page.request.get(`${url}/sign-in/${code}`, { maxRedirects: 0 });
    await opened.page.goto(`${url}/docs${at}`);
    await opened.page.getByText("You are ada").waitFor();
    return opened;
  }

  /** What a person who sees or moves otherwise would stumble over. */
  async function stumbles(page: Page): Promise<string[]> {
    await page.evaluate(axe);
    return page.evaluate(async () => {
      const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
    });
  }

  test("finds an operation, sends a GET with the session and shows its answer", async () => {
    const { page, troubles } = await open("operator", "");
    await page.getByRole("searchbox").fill("instances newest");
    await page.locator("summary", { hasText: "List the instances of a lifecycle" }).click();
    const card = page.locator("#listInstances");
    const send = card.getByRole("button", { name: "Send" });
    expect(await send.isDisabled()).toBe(true);
    await card.getByLabel("lifecycle").fill("parcel");
    expect(await card.locator(".try-curl pre").textContent()).toContain(`${url}/api/lifecycles/parcel/instances'`);
    await send.click();
    expect(await card.getByRole("status").textContent()).toMatch(/^200.*"key": "p1"/s);
    expect(await stumbles(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("sends a write only after a second look, and tells why it was refused", async () => {
    const { page } = await open("operator", "#sendByKey");
    const card = page.locator("#sendByKey");
    for (const [name, value] of Object.entries({ lifecycle: "parcel", key: "p1", event: "sent" }))
      await card.getByLabel(new RegExp(`^${name}`)).fill(value);
    await card.getByRole("button", { name: "Send POST…" }).click();
    expect(await t.pawl.get(parcel, "p1")).toMatchObject({ state: "packed" });
    await card.getByRole("button", { name: "Change data: POST" }).click();
    expect(await card.getByRole("status").textContent()).toMatch(/^200.*"state": "away"/s);
    await card.getByRole("button", { name: "Send POST…" }).click();
    await card.getByRole("button", { name: "Change data: POST" }).click();
    await card.getByText("transition_refused").waitFor();
  });

  test("lets nobody try what his role does not give, and has room on a small screen in the dark", async () => {
    const { page, troubles } = await open("viewer", "#forceBreaker", 360);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.getByText("The role viewer does not have the right to operate.").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    expect(await stumbles(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });
});

interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}
