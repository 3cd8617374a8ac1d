import { readFile } from "node:fs/promises";
import { type HttpServer, serveHttp } from "pawl/http";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { builtPages } from "../setup/compile.ts";
import { inBrowser } from "../setup/suites.ts";
import { axeFaultsOnce } from "../support/pages/axe.ts";
import { openBrowser, openPage } from "../support/pages/browser.ts";
import { openPeople } from "./operations-world.ts";

inBrowser("the console for who leads people and crowds", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  let page: Page;
  let troubles: string[];

  beforeAll(async () => {
    [t, browser] = await Promise.all([openPeople(), openBrowser()]);
    server = await serveHttp(t.pawl, { port: 0, pages: builtPages() });
    ({ page, troubles } = await openPage(browser));
    await page.goto(`${server.url}/sign-in/${await t.pawl.access.createSignInCode({ name: "lea", role: "operator" })}`);
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

  const open = (name: string) =>
    page.getByRole("navigation", { name: "Pages" }).getByText(name, { exact: true }).click();
  const tab = (name: string) => page.getByRole("navigation").getByRole("link", { name }).click();
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  const says = (text: string) => page.getByRole("status").getByText(text).waitFor();

  async function answer(action: string, fields: Readonly<Record<string, string>> = {}): Promise<void> {
    const dialog = page.getByRole("dialog");
    for (const [name, text] of Object.entries(fields)) await dialog.getByLabel(name).fill(text);
    await dialog.getByRole("button", { name: action, exact: true }).click();
  }

  test("a queue tells what lies in it; it is deactivated and activated, and its labels are saved", async () => {
    await open("People");
    const cells = row("animals").getByRole("cell");
    await cells.first().waitFor();
    expect((await cells.allInnerTexts()).slice(0, 6)).toEqual(["animals", "active", "3", "1", "2", "1"]);
    await page.getByRole("link", { name: "animals" }).click();
    await button("Deactivate").click();
    await says("animals is inactive.");
    await button("Activate").click();
    await says("animals is active.");
    const [saved] = await Promise.all([page.waitForEvent("download"), button("Export labels").click()]);
    const lines = (await readFile(await saved.path(), "utf8")).trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { labeler: string }).labeler)).toEqual(["ada", "ben"]);
  });

  test("labels are accepted and rejected with a comment, and a late one is let count", async () => {
    await tab("Labels");
    await button("Reject the label of ben").click();
    await answer("Reject", { Comment: "that is no dog" });
    await says("Label rejected.");
    await button("Accept the label of ada").click();
    await answer("Accept");
    await page.getByRole("combobox", { name: "Labels" }).selectOption("rejected");
    await row("that is no dog").getByText("lea").waitFor();
    await tab("Late");
    await button("Accept the label of cem").click();
    await answer("Accept", { Comment: "better late than never" });
    await page.getByText("No late labels").waitFor();
    const reviews = (await t.pawl.people.labels("animals")).map((one) => `${one.labelerId} ${one.review}`);
    expect(reviews).toEqual(expect.arrayContaining(["ada accepted", "ben rejected", "cem accepted"]));
  });

  test("a lead sees the sample as the desk shows it, compares its labels, and goes to the next by a key", async () => {
    await tab("Samples");
    await button("tom").click();
    const sample = page.getByRole("complementary", { name: "Sample" });
    const compared = sample.getByRole("region", { name: "Labels side by side" });
    await compared.getByRole("columnheader", { name: "ada" }).waitFor();
    await compared.getByRole("button", { name: "Reject ada" }).waitFor();
    const before = await sample.getByRole("heading", { level: 2 }).textContent();
    await sample.getByText(/^\d of 3$/).waitFor();
    const isLast = await sample.getByRole("button", { name: "Next" }).isDisabled();
    await page.keyboard.press(isLast ? "k" : "j");
    await sample.getByRole("heading", { level: 2 }).filter({ hasNotText: before! }).waitFor();
    await page.keyboard.press("Escape");
    await sample.waitFor({ state: "detached" });
  });

  test("what somebody has in hand is taken back, and a sample is closed", async () => {
    await tab("Assigned");
    await button("Release from dan").click();
    await answer("Release", { Reason: "dan is ill" });
    await says("The sample can be assigned again.");
    await row("dan").waitFor({ state: "detached" });
    await tab("Samples");
    await button("kit").click();
    const sample = page.getByRole("complementary", { name: "Sample" });
    await sample.getByText("kit.png").first().waitFor();
    await sample.getByRole("button", { name: "Close…" }).click();
    await answer("Close sample", { Reason: "a blurred picture" });
    await sample.getByText("closed", { exact: true }).waitFor();
    expect(await t.pawl.people.sample({ queue: "animals", key: "kit" })).toMatchObject({ state: "closed" });
  });

  test("labelers are shown with their numbers, and one is given nothing more", async () => {
    await tab("Labelers");
    await row("ada").getByText("1", { exact: true }).first().waitFor();
    await button("Deactivate cem").click();
    await says("cem gets no more assignments.");
    await row("cem").getByText("inactive").waitFor();
    expect(await t.pawl.people.next("animals", "cem")).toMatchObject({ assignment: null });
  });

  test("submissions are approved, rejected with feedback and paid more, on a marketplace that is only for trying", async () => {
    await open("Crowds");
    await row("receipts").getByText("Sandbox").waitFor();
    await page.getByText("no payments").waitFor();
    await page.getByRole("link", { name: "receipts" }).click();
    const submission = page.getByRole("complementary", { name: "Submission" });
    await row("W1").getByRole("button").first().click();
    await submission.getByRole("button", { name: "Approve…" }).click();
    await answer("Approve", { "Message to the worker": "well read" });
    await submission.getByText("approving").waitFor();
    await submission.getByRole("button", { name: "Bonus…" }).click();
    await answer("Pay", { Amount: "0.50", "Message to the worker": "thank you" });
    await says("The bonus will be paid once.");
    await row("W2").getByRole("button").first().click();
    await submission.getByText("W2").waitFor();
    await submission.getByRole("button", { name: "Reject…" }).click();
    await answer("Reject", { "Message to the worker": "the total is missing" });
    await says("Rejected. The worker receives the message.");
    await t.work();
    await submission.getByText("rejected", { exact: true }).waitFor();
    await submission.getByText("the total is missing").waitFor();
  });

  test("a job is looked at and taken back", async () => {
    await tab("Jobs");
    await button("r-1").click();
    const job = page.getByRole("complementary", { name: "Crowd job" });
    await job.getByText('"receipt.png"').waitFor();
    await job.getByRole("button", { name: "Sync now" }).click();
    await says("The job is syncing.");
    await t.work();
    await job.getByRole("button", { name: "Close…" }).click();
    await answer("Close job", { Reason: "enough" });
    await says("The job is closed to new workers.");
    await t.work();
    await job.getByText(/^(closed|incomplete)$/).waitFor();
  });
});
