import { lifecycle, queue } from "pawl";
import { type HttpServer, serveHttp } from "pawl/http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { builtPages } from "../setup/compile.ts";
import { inBrowser } from "../setup/suites.ts";
import { axeFaults, sideways } from "../support/pages/axe.ts";
import { openBrowser, openPage } from "../support/pages/browser.ts";

const checks = queue("checks", { label: z.object({ ok: z.boolean() }) });

const parcel = lifecycle("parcel", {
  data: z.object({ weight: z.number(), street: z.string().optional() }),
  events: { moved_house: z.object({ street: z.string() }) },
  initial: "packed",
  states: {
    packed: {
      forever: true,
      on: { sent: "weighing", moved_house: { set: ({ payload }) => ({ street: payload.street }) } },
    },
    weighing: { run: (step) => step.go("weighed"), on: { weighed: "checked" } },
    checked: { ask: { queue: checks, sample: () => ({}) }, on: { answered: "away", unanswered: "lost" } },
    away: { final: "success" },
    lost: { final: "failure" },
  },
});

inBrowser("the console", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  let page: Page;
  let troubles: string[];

  beforeAll(async () => {
    t = await testPawl({ lifecycles: [parcel], queues: [checks] });
    server = await serveHttp(t.pawl, { port: 0, pages: builtPages() });
    browser = await openBrowser();
    ({ page, troubles } = await openPage(browser));
    await signIn(page, "operator");
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await t.close();
  });

  async function signIn(page: Page, role: "viewer" | "operator"): Promise<void> {
    const code = await t.pawl.access.createSignInCode({ name: "ada", role });
    await page.goto(`${server.url}/sign-in/${code}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  }

  const go = (path: string) => page.goto(`${server.url}${path}`);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const field = (name: string) => page.getByLabel(name);

  test("an empty system says what to do first, and does it", async () => {
    await page.getByRole("heading", { name: "No instances yet" }).waitFor();
    await button("Start one here").click();
    await field("Key").fill("elm-3");
    await field("Data, as JSON").fill('{ "weight": ');
    await button("Start").click();
    await page.getByText("This is not JSON").waitFor();
    await field("Data, as JSON").fill('{ "weight": 2 }');
    await button("Start").click();
    await page.getByRole("heading", { name: "elm-3" }).waitFor();
    expect(await t.pawl.get(parcel, "elm-3")).toMatchObject({ data: { weight: 2 } });
  });

  test("the overview follows what happens, and leads to the diagram, which counts", async () => {
    await go("/");
    await page.getByRole("link", { name: "In flight 1" }).waitFor();
    await page.getByRole("img", { name: /started/ }).waitFor();
    await page.getByRole("link", { name: "parcel" }).click();
    await page.getByRole("button", { name: "packed, 1 instance", exact: true }).waitFor();
    await t.pawl.start(parcel, { key: "oak-1", data: { weight: 3 } });
    await page.getByRole("button", { name: "packed, 2 instances" }).waitFor();
  });

  test("a state tells what is known of it, and its lane is paused and resumed", async () => {
    await page.getByRole("button", { name: /^weighing/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("parcel/weighing", { exact: true }).waitFor();
    await button("Pause").click();
    await field("Reason").fill("the scales are off");
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByText("Paused: the scales are off").waitFor();
    expect((await t.pawl.lanes.list()).find(({ state }) => state === "weighing")?.closed).toMatchObject({
      actor: "ada",
    });
    await button("Resume").click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
    await button("Pause").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("complementary", { name: "State weighing" }).waitFor({ state: "detached" });
  });

  test("instances are filtered by what stands in the address, and get an event each", async () => {
    await t.pawl.send(parcel, "oak-1", "discard");
    await page.getByRole("button", { name: "discarded 1" }).waitFor();
    await go("/instances?lifecycle=parcel&state=packed&state=discarded");
    await page.getByRole("row").nth(2).waitFor();
    await page.getByLabel("Choose all instances shown").check();
    await button("Send event").click();
    await page.getByRole("dialog").getByLabel("Event").selectOption("sent");
    await button("Send").click();
    await page.getByText("1 of 2 refused it.").waitFor();
    await page.getByRole("dialog").getByRole("link", { name: "oak-1" }).waitFor();
    await button("Cancel").click();
    await button("Without packed").click();
    await page.getByRole("row").nth(2).waitFor({ state: "detached" });
    expect(page.url()).toMatch(/instances\?lifecycle=parcel&state=discarded$/);
    await button("Without discarded").click();
    await field("Key or id").fill("elm");
    await page.getByRole("cell", { name: "elm-3" }).waitFor();
    await page.getByRole("row").nth(2).waitFor({ state: "detached" });
  });

  test("an instance takes what it permits, shows what changed, and moves before one's eyes", async () => {
    const { id } = await t.pawl.start(parcel, { key: "ash-7", data: { weight: 4, street: "Elm" } });
    await go(`/instances/${id}`);
    await button("moved_house").click();
    await field("Payload, as JSON").fill('{ "street": "Oak" }');
    await field("Reason").fill("called us");
    await button("Send").click();
    const change = page.getByLabel("What changed").first();
    await change.getByText('"Oak"').waitFor();
    expect(await change.textContent()).toContain('street: "Elm" "Oak"');
    await page.getByText("by ada").waitFor();
    await t.pawl.send(parcel, { id }, "fail");
    await page.getByText("packed → failed").waitFor();
    await button("Only failures").click();
    expect(await page.locator(".entry").count()).toBe(1);
    await button("Retry").click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
    await page.getByText("recover was applied.").waitFor();
    expect(await t.pawl.get(parcel, { id })).toMatchObject({ state: "packed" });
  });

  test("everything is found by the keyboard, and stays as one likes it", async () => {
    await go("/");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("ash");
    await page.getByRole("option", { name: "ash-7" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "ash-7" }).waitFor();
    await button("Colors: system").click();
    await button("Times: Ago").click();
    await button("Times: Local").click();
    await page
      .getByText(/\d UTC$/)
      .first()
      .waitFor();
    await page.reload();
    await button("Colors: light").waitFor();
    await button("Live").click();
    await button("Paused").waitFor();
  });

  test("whoever may only look is offered nothing else", async () => {
    const own = await openPage(browser);
    await signIn(own.page, "viewer");
    await own.page.getByRole("link", { name: "Instances", exact: true }).click();
    await own.page.getByRole("cell", { name: "ash-7" }).waitFor();
    expect(await own.page.getByRole("checkbox").count()).toBe(0);
    expect(await own.page.getByRole("button", { name: "Start one" }).count()).toBe(0);
    expect(await own.page.getByRole("link", { name: "Access" }).count()).toBe(0);
    await own.page.getByRole("link", { name: "ash-7" }).click();
    await own.page.getByRole("heading", { name: "Timeline" }).waitFor();
    expect(await own.page.getByRole("button", { name: "moved_house" }).count()).toBe(0);
    expect(own.troubles).toEqual([]);
  });

  test("everybody can use every page, in light and dark, and in a narrow window", async () => {
    const own = await openPage(browser);
    await signIn(own.page, "operator");
    const { id } = (await t.pawl.get(parcel, "ash-7"))!;
    for (const [path, sign] of [
      ["/", "In flight"],
      ["/lifecycles/parcel", "asks people"],
      ["/instances?lifecycle=parcel", "ash-7"],
      [`/instances/${id}`, "Waiting for"],
    ]) {
      await own.page.setViewportSize({ width: 1280, height: 900 });
      await own.page.goto(server.url + path);
      await own.page.getByText(sign!).first().waitFor();
      for (const colorScheme of ["light", "dark"] as const) {
        await own.page.emulateMedia({ colorScheme });
        expect(await axeFaults(own.page)).toEqual([]);
      }
      await own.page.setViewportSize({ width: 360, height: 740 });
      expect(await sideways(own.page)).toBe(0);
    }
    expect(own.troubles).toEqual([]);
  });

  test("nothing of all this troubled the browser, but the one refusal that was asked for", () =>
    expect(troubles).toEqual([expect.stringContaining("409")]));
});
