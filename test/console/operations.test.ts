import { type HttpServer, serveHttp } from "pawl/http";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { builtPages } from "../setup/compile.ts";
import { inBrowser } from "../setup/suites.ts";
import { axeFaultsOnce, sideways } from "../support/pages/axe.ts";
import { openBrowser, openPage } from "../support/pages/browser.ts";
import { openOrders, order } from "./operations-world.ts";

inBrowser("the console for operators", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  let page: Page;
  let troubles: string[];

  beforeAll(async () => {
    [t, browser] = await Promise.all([openOrders(), openBrowser()]);
    server = await serveHttp(t.pawl, { port: 0, pages: builtPages() });
    ({ page, troubles } = await openPage(browser));
    await signIn(page, "admin");
  });
  afterEach(async () => {
    expect(await axeFaultsOnce(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await t.close();
  });

  async function signIn(on: Page, role: "admin" | "viewer"): Promise<void> {
    await on.goto(`${server.url}/sign-in/${await t.pawl.access.createSignInCode({ name: "ada", role })}`);
    await on.getByRole("navigation", { name: "Pages" }).waitFor();
  }

  const open = (name: string) =>
    page.getByRole("navigation", { name: "Pages" }).getByText(name, { exact: true }).click();
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  const inDialog = (action: string) => page.getByRole("dialog").getByRole("button", { name: action, exact: true });
  const says = (text: string) => page.getByRole("status").getByText(text).waitFor();

  /** Answers the dialog that is open. */
  async function answer(action: string, fields: Readonly<Record<string, string>> = {}): Promise<void> {
    const dialog = page.getByRole("dialog");
    for (const [name, text] of Object.entries(fields)) await dialog.getByLabel(name).fill(text);
    await inDialog(action).click();
  }

  test("a letter is opened from its group, its data mended and taken up again", async () => {
    await open("Dead letters");
    await page.getByRole("link", { name: "no street is called Oak #" }).click();
    await button("Error: no street is called Oak 1").click();
    const letter = page.getByRole("complementary", { name: "Dead letter" });
    await letter.getByText("at ", { exact: false }).first().waitFor(); // The stack.
    await letter.getByRole("button", { name: "Requeue…" }).click();
    await page.getByRole("dialog").getByLabel("Data").fill("{");
    await answer("Requeue");
    await page.getByRole("alert").getByText("This is not JSON").waitFor();
    await answer("Requeue", { Data: '{ "address": "Elm 1" }', Reason: "moved house" });
    await says("Requeued.");
    await letter.getByText("moved house").waitFor();
    await t.work();
    expect(await t.pawl.get(order, "o-1")).toMatchObject({ state: "sent", data: { address: "Elm 1" } });
  });

  test("a ticket is taken and resolved", async () => {
    await page.goto(`${server.url}/dead?tab=tickets`);
    await row("Ash").getByRole("button", { name: "Take" }).click();
    await says("The ticket is assigned to you.");
    await page.getByRole("combobox", { name: "Tickets" }).selectOption("assigned");
    await row("Ash").getByRole("button", { name: "Resolve…" }).click();
    await answer("Resolve", { Resolution: "the map was old" });
    await page.getByRole("combobox", { name: "Tickets" }).selectOption("resolved");
    await row("the map was old").getByText("ada").first().waitFor();
  });

  test("all that match are decided after a preview; it becomes an operation whose bar moves", async () => {
    await page.goto(`${server.url}/dead?kind=instance`);
    await button("Discard all matching…").click();
    await page.getByRole("dialog").getByText("of 2 would be discarded").waitFor();
    await answer("Discard 2", { "Maximum per second": "1000", Reason: "nobody waits" });
    await page.getByRole("complementary", { name: "Operation" }).getByText("nobody waits").waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    const bar = page.getByRole("progressbar", { name: "Progress of discard" });
    expect(await bar.getAttribute("value")).toBe("0");
    await button("Run a batch").click();
    await says("Batch completed.");
    await row("about instances").getByText("done", { exact: true }).waitFor();
    expect(await bar.getAttribute("value")).toBe("2");
    expect(await t.pawl.deadLetters.list({ lifecycle: order, status: "discarded" })).toMatchObject([
      { decidedBy: "ada", decision: "nobody waits" },
      {},
    ]);
  });

  test("more than a thousand are decided only by whoever types their number", async () => {
    const many = { letters: 2_048, outcomes: { requeued: 2_040, transition_refused: 8 }, sample: [] };
    await page.route("**/dead-letters/preview", (route) => route.fulfill({ json: many }));
    await page.goto(`${server.url}/dead`);
    await button("Requeue all matching…").click();
    await page.getByRole("dialog").getByText("8 would not: transition_refused").waitFor();
    const requeue = inDialog("Requeue 2,048");
    expect(await requeue.isDisabled()).toBe(true);
    await page.getByRole("dialog").getByLabel("Type 2048 to confirm").fill("2048");
    expect(await requeue.isEnabled()).toBe(true);
    await inDialog("Cancel").click();
    await page.unroute("**/dead-letters/preview");
    await page.getByRole("link", { name: "the printer is out of paper" }).click();
    await page.getByLabel("Choose all letters shown").check();
    await button("Requeue 3 selected…").click();
    await page.getByRole("dialog").getByText("of 3 would be retried").waitFor();
    await inDialog("Cancel").click();
  });

  test("an operation is aborted with a reason", async () => {
    await t.pawl.deadLetters.requeueMany({ kind: "message" }, { actor: "grace", rate: 0.001 });
    await open("Operations");
    await row("grace").getByRole("button", { name: "Abort…" }).click();
    await answer("Abort", { Reason: "the printer is still empty" });
    await row("grace").getByText("aborted").waitFor();
    await row("grace")
      .getByRole("button", { name: /^Requeue/ })
      .click();
    await page.getByRole("complementary", { name: "Operation" }).getByText("the printer is still empty").waitFor();
  });

  test("workers show what they have in hand, and a lane is paused and goes on", async () => {
    await open("Workers");
    await page.getByText("No workers").waitFor();
    const worker = t.pawl.work({ concurrency: 4 });
    await page.getByRole("progressbar", { name: /^Slots of/ }).waitFor();
    await worker.stop();
    await button("Pause order@1/packing").click();
    await answer("Pause", { Reason: "the boxes are gone" });
    await row("the boxes are gone").getByText("paused", { exact: true }).waitFor();
    await button("Resume order@1/packing").click();
    await says("order/packing is resumed.");
    await row("order@1/packing").getByText("open", { exact: true }).waitFor();
  });

  test("a breaker is held open with a reason and released, and its history tells of both", async () => {
    await open("Breakers");
    await row("judge/pending").getByRole("button", { name: "Force open…" }).click();
    await answer("Force open", { Reason: "an outage" });
    await row("an outage").getByText("forced open").waitFor();
    await row("an outage").getByRole("button", { name: "Release…" }).click();
    await answer("Release");
    await row("judge/pending").getByText("half-open").waitFor();
    await button("model").click();
    const history = page.getByRole("complementary", { name: "History of model" });
    await history.getByText("an operator released it").waitFor();
    await history.getByText("by ada: an outage").waitFor();
  });

  test("a message that was given up is sent once more, another discarded", async () => {
    await open("Outbox");
    const messages = page.getByRole("region", { name: "messages" });
    await messages.getByRole("button", { name: "order.taken" }).first().click();
    await page
      .getByRole("complementary", { name: "Message" })
      .getByText(/"(Fir|Oak|Ash) \d"/)
      .waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await messages.getByRole("button", { name: "Requeue…" }).first().click();
    await answer("Requeue");
    await says("1 message is requeued.");
    await button("Discard all dead…").click();
    await answer("Discard");
    await says("2 messages are discarded.");
    await page.getByText("No dead messages").waitFor();
  });

  test("a schedule is run, paused with a reason and resumed", async () => {
    await open("Schedules");
    await button("Run now: nightly").click();
    await says("nightly started.");
    await row("nightly").getByText("started").waitFor();
    await button("Pause nightly").click();
    await answer("Pause", { Reason: "holiday" });
    await row("nightly").getByText("ada: holiday").waitFor();
    await button("Resume nightly").click();
    await row("nightly").getByText("active").waitFor();
  });

  test("a token is made, its secret shown once, and taken back", async () => {
    await open("Access");
    await button("New token…").click();
    await page.getByRole("dialog").getByLabel("Role").selectOption("service");
    await answer("Create", { Name: "grader" });
    const secret = await page.getByLabel("Secret").inputValue();
    expect(await t.pawl.access.authenticateToken(secret)).toMatchObject({ name: "grader", role: "service" });
    await inDialog("Done").click();
    await button("Revoke the token of grader").click();
    await answer("Revoke");
    await page.getByText("No tokens").waitFor();
    expect(await t.pawl.access.authenticateToken(secret)).toBeUndefined();
  });

  test("whoever may only look is shown no action and no secrets, also on a small screen", async () => {
    const small = await openPage(browser, { width: 360, height: 800 });
    await signIn(small.page, "viewer");
    for (const path of ["dead", "workers", "breakers", "outbox", "schedules", "people", "crowds", "operations"]) {
      await small.page.goto(`${server.url}/${path}`);
      await small.page.locator(".table-bar").first().waitFor();
      expect(await small.page.getByRole("columnheader", { name: "Actions" }).count(), path).toBe(0);
      expect(await sideways(small.page), path).toBe(0);
    }
    expect(await small.page.getByRole("link", { name: "Access" }).count()).toBe(0);
    expect(small.troubles).toEqual([]);
  });
});
