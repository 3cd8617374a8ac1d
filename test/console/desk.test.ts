import { queue } from "pawl";
import type { LabelRow } from "pawl/formats";
import { type HttpServer, serveHttp } from "pawl/http";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { builtPages } from "../setup/compile.ts";
import { inBrowser } from "../setup/suites.ts";
import { axeFaults, sideways } from "../support/pages/axe.ts";
import { openBrowser, openPage } from "../support/pages/browser.ts";

const settings = { finishWithin: "10m", instructions: "Praise thanks, a complaint wants something." } as const;
const moods = z.object({ mood: z.enum(["praise", "complaint", "question"]), urgency: z.int().min(1).max(5) });
const receipt = z.object({
  shop: z.object({ name: z.string().min(2).max(80) }),
  paid: z.boolean(),
  lines: z.array(z.object({ what: z.string().max(40), price: z.number() })),
  note: z.string().optional(),
});

const queues = ["skipped", "kept", "left", "overdue", "worked", "shared", "narrow", "to-come"].map((name) =>
  queue(name, { ...settings, label: moods, skipRequiresReason: name === "skipped" }),
);
/** Here the page fetches ahead. */
const byKeys = queue("by-keys", { ...settings, label: moods, concurrency: 2 });
const receipts = queue("receipts", { ...settings, label: receipt });
const verdict = z.object({ verdict: z.enum(["keep", "remove"]), because: z.enum(["insult", "spam"]).optional() });
const pairs = queue("pairs", { ...settings, label: verdict });

const picture = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>')}`;

inBrowser("the desk", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  beforeAll(async () => {
    t = await testPawl({ lifecycles: [], queues: [...queues, byKeys, receipts, pairs] });
    server = await serveHttp(t.pawl, { port: 0, pages: builtPages() });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await t.close();
  });

  // A page that stays open goes on asking.
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });

  async function fill(name: string, count: number): Promise<void> {
    const samples = Array.from({ length: count }, (_, index) => ({
      key: `s${index + 1}`,
      data: { text: `Message ${index + 1} of a customer of a bicycle shop, who has something to say about a saddle.` },
    }));
    await t.pawl.people.addMany(name, samples);
  }

  /** A browser of somebody's own, who has signed in there. */
  async function signedIn(
    name: string,
    path = "/desk",
    { role = "labeler", width = 1280 }: { role?: "labeler" | "admin" | "viewer"; width?: number } = {},
  ): Promise<{ page: Page; troubles: string[] }> {
    const opened = await openPage(browser, { width, height: 900 });
    const data = { token: await t.pawl.access.createSignInCode({ name, role }) };
    await opened.page.request.post(`${server.url}/api/session`, { data });
    await opened.page.goto(`${server.url}${path}`);
    return opened;
  }

  /** What keeps somebody out, in light and in dark. */
  async function barriers(page: Page): Promise<string[]> {
    const light = await axeFaults(page);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await axeFaults(page);
    await page.emulateMedia({ colorScheme: "light" });
    return [...light, ...dark];
  }

  const message = (page: Page, number: number) => page.getByText(`Message ${number} of a customer`).waitFor();
  async function exported(name: string): Promise<LabelRow[]> {
    const rows: LabelRow[] = [];
    for await (const row of t.pawl.people.exportLabels(name)) rows.push(row);
    return rows;
  }
  /** As when somebody comes back to the window: the page asks how things stand. */
  const comeBack = (page: Page) => page.evaluate('window.dispatchEvent(new Event("focus"))');

  test("five samples are labeled by the keyboard alone, and stand in the export", async () => {
    await fill("by-keys", 5);
    const { page, troubles } = await openPage(browser);
    const code = await t.pawl.access.createSignInCode({ name: "ada", role: "labeler" });
    await page.goto(`${server.url}/sign-in/${code}`);
    await page.getByRole("link", { name: /by-keys/ }).focus();
    await page.keyboard.press("Enter");
    for (const number of [1, 2, 3, 4, 5]) {
      await message(page, number);
      await page.keyboard.press(String(1 + (number % 3)));
      await page.keyboard.press(String(number));
      await page.keyboard.press("Enter");
    }
    await page.getByText("All done for now").waitFor();
    await page.getByText("5 today").waitFor();
    const kinds = ["praise", "complaint", "question"];
    expect((await exported("by-keys")).map(({ sample, labeler, label }) => [sample.key, labeler, label])).toEqual(
      [1, 2, 3, 4, 5].map((number) => [`s${number}`, "ada", { mood: kinds[number % 3], urgency: number }]),
    );
    expect(await t.pawl.people.metrics("by-keys")).toMatchObject({ total: 5, byStatus: { completed: 5 } });
    expect(troubles).toEqual([]);
  });

  test("the page is small: all that it loads, packed, is less than 40 KB", async () => {
    const { page } = await signedIn("bo");
    await page.getByRole("link", { name: /by-keys/ }).waitFor();
    const sizes = await page.evaluate<[string, number][]>(
      `performance.getEntriesByType("resource").map((one) => [one.name, one.encodedBodySize])
        .filter(([name]) => name.includes("/assets/"))`,
    );
    expect(sizes.some(([name]) => name.endsWith(".js"))).toBe(true);
    expect(sizes.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(40_000);
    expect(sizes.every(([name]) => name.startsWith(server.url))).toBe(true);
  });

  test("a form with lists and parts is filled in; what its queue does not take is told at its place", async () => {
    await t.pawl.people.add("receipts", {
      key: "r1",
      data: { scan: picture, shop: "?" },
    });
    const { page, troubles } = await signedIn("cleo", "/desk/receipts");
    await expect.poll(() => page.evaluate('document.querySelector(".picture img")?.naturalWidth')).toBe(8);
    await page.getByLabel("Name").fill("B");
    await page.getByRole("button", { name: "Add to Lines" }).click();
    await page.getByRole("textbox", { name: "What" }).fill("Saddle");
    await page.getByRole("button", { name: "Add to Lines" }).click();
    await page.getByRole("textbox", { name: "What" }).nth(1).fill("Bell");
    await page.getByLabel("Price").nth(1).fill("4.50");
    await page.getByRole("button", { name: "Remove Lines 1" }).click();
    await page.getByLabel("Price").press("Enter");
    await page.locator(".field.wrong", { hasText: "Name" }).waitFor();
    await page.locator(".question.wrong", { hasText: "Please answer this." }).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("field/shop/name");

    await page.getByLabel("Name").fill("Bikes & more");
    await page.getByRole("radio", { name: "Yes" }).check();
    await page.getByLabel("Note").fill("Two lines,\nand all of it.");
    await page.getByLabel("Note").press("Control+Enter");
    await page.getByText("All done for now").waitFor();
    expect(await exported("receipts")).toMatchObject([
      {
        label: {
          shop: { name: "Bikes & more" },
          paid: true,
          lines: [{ what: "Bell", price: 4.5 }],
          note: "Two lines,\nand all of it.",
        },
      },
    ]);
    // The browser itself notes that an answer was refused.
    expect(troubles.filter((one) => !one.includes("422"))).toEqual([]);
  });

  test("what is skipped goes back with its reason, by a key of one's own choice", async () => {
    await fill("skipped", 2);
    const { page, troubles } = await signedIn("dora", "/desk/skipped");
    await message(page, 1);
    await page.getByText("Praise thanks, a complaint wants something.").waitFor();
    await page.keyboard.press("i");
    await page.keyboard.press("?");
    await page.getByRole("button", { name: "Change the key: Skip, with a reason" }).click();
    await page.keyboard.press("x");
    await page.keyboard.press("Escape");
    await page.reload();
    await message(page, 1);
    expect(await page.getByText("Praise thanks").isVisible()).toBe(false);
    await page.keyboard.press("x");
    await page.getByLabel("Why").fill("I cannot read it");
    await page.keyboard.press("Enter");
    await message(page, 2);
    await page.getByText("1 skipped").waitFor();
    expect(await t.pawl.people.assignments("skipped", { labeler: "dora", status: "skipped" })).toMatchObject([
      { skipReason: "I cannot read it" },
    ]);
    expect(troubles).toEqual([]);
  });

  test("a draft survives a reload, another browser and a page that is left at once", async () => {
    await t.pawl.people.add("receipts", { key: "r2", data: "A receipt" });
    const { page, troubles } = await signedIn("emil", "/desk/receipts");
    await page.getByLabel("Note").fill("half a thou");
    await page.getByText("Draft saved").waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("Note").inputValue()).toBe("half a thou");
    await page.getByLabel("Note").fill("half a thought");
    await page.goto(`${server.url}/desk`);
    const [held] = await t.pawl.people.assignments("receipts", { labeler: "emil" });
    await expect.poll(() => t.pawl.people.draft(held!.id, "emil")).toMatchObject({ value: { note: "half a thought" } });

    const other = await signedIn("emil", "/desk/receipts");
    await expect.poll(() => other.page.getByLabel("Note").inputValue()).toBe("half a thought");
    expect([...troubles, ...other.troubles]).toEqual([]);
  });

  test("whoever is at work gets more time, and who lost his work is told, with all that he entered", async () => {
    await fill("overdue", 2);
    const { page, troubles } = await signedIn("fay", "/desk/overdue");
    await message(page, 1);
    const [held] = await t.pawl.people.assignments("overdue", { labeler: "fay" });
    await t.advance("6m");
    await comeBack(page);
    await page.keyboard.press("2");
    const deadline = async () => (await t.pawl.people.assignment(held!.id)).deadlineAt!.getTime() - t.now().getTime();
    await expect.poll(deadline).toBe(600_000);

    await t.advance("11m");
    await comeBack(page);
    await page.getByRole("alert").getByText("no longer assigned to you").waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(await page.getByRole("radio", { name: "Complaint" }).isChecked()).toBe(true);
    await page.getByRole("radio", { name: "4" }).check();
    await page.getByRole("button", { name: "Submit late" }).click();
    await page.getByText("It is kept, and used if a lead accepts it").waitFor();
    expect(await t.pawl.people.labels("overdue", { late: true })).toMatchObject([
      { value: { mood: "complaint", urgency: 4 }, late: true },
    ]);
    expect(troubles).toEqual([]);
  });

  test("nobody sees what another does", async () => {
    await fill("shared", 2);
    const first = await signedIn("gil", "/desk/shared");
    await message(first.page, 1);
    const second = await signedIn("hal", "/desk/shared");
    await message(second.page, 2);
    const [gils] = await t.pawl.people.assignments("shared", { labeler: "gil" });
    const asked = await second.page.request.get(`${server.url}/api/desk/assignments/${gils!.id}`);
    expect(asked.status()).toBe(404);
    await first.page.keyboard.press("1");
    await first.page.keyboard.press("1");
    await first.page.keyboard.press("Enter");
    await first.page.getByText("1 today").waitFor();
    await comeBack(second.page);
    await second.page.getByText("0 today").waitFor();
    expect([...first.troubles, ...second.troubles]).toEqual([]);
  });

  test("an empty queue says so calmly, and goes on by itself when something comes", async () => {
    const { page, troubles } = await signedIn("ivy", "/desk/to-come");
    await page.getByText("No samples are waiting in queue to-come.").waitFor();
    await fill("to-come", 1);
    await comeBack(page);
    await message(page, 1);
    await page.getByText("Nothing waiting").waitFor();
    expect(troubles).toEqual([]);
  });

  test("all of it fits 360 pixels, and nobody is kept out by how he reads or types", async () => {
    await fill("narrow", 2);
    const { page, troubles } = await signedIn("joe", "/desk", { width: 360 });
    await page.getByRole("link", { name: /narrow/ }).waitFor();
    expect([await sideways(page), await barriers(page)]).toEqual([0, []]);
    await page.goto(`${server.url}/desk/narrow`);
    await message(page, 1);
    expect([await sideways(page), await barriers(page)]).toEqual([0, []]);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    expect(await barriers(page)).toEqual([]);
    await t.pawl.people.add("receipts", { data: { scan: picture, meta: { pages: [1] } } });
    await page.goto(`${server.url}/desk/receipts`);
    await page.getByRole("button", { name: "Add to Lines" }).click();
    expect(await sideways(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await barriers(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test("an admin says as whom he labels; who may only look is told so", async () => {
    await fill("worked", 1);
    const admin = await signedIn("root", "/desk", { role: "admin" });
    await admin.page.getByLabel("You label as").fill("kim");
    await admin.page.keyboard.press("Enter");
    await admin.page.getByRole("link", { name: /worked/ }).click();
    await message(admin.page, 1);
    expect(await t.pawl.people.assignments("worked", {})).toMatchObject([{ labelerId: "kim", status: "in_progress" }]);

    const viewer = await signedIn("eve", "/desk", { role: "viewer" });
    await viewer.page.getByText("You cannot label here").waitFor();
    expect([...admin.troubles, ...viewer.troubles]).toEqual([]);
  });

  test("two texts are shown alike, and a digit typed again corrects its answer", async () => {
    const long = "A long answer, which goes on for a while. ".repeat(6);
    await t.pawl.people.addMany("pairs", [
      { key: "p", data: { question: "Which?", answer_a: "Yes.", answer_b: long } },
    ]);
    const { page, troubles } = await signedIn("pia", "/desk/pairs");
    const texts = page.locator(".side-by-side .part-text");
    await texts.nth(1).waitFor();
    const sizes = await page.evaluate<string[]>(
      '[...document.querySelectorAll(".side-by-side .part-text")].map((one) => getComputedStyle(one).fontSize)',
    );
    expect(sizes).toEqual(["18px", "18px"]);
    const tops = await Promise.all([0, 1].map(async (at) => (await texts.nth(at).boundingBox())!.y));
    expect(tops[0]).toBe(tops[1]);
    await page.keyboard.press("1");
    await page.keyboard.press("2");
    await page.keyboard.press("Enter");
    await page.getByText("All done for now").waitFor();
    const [label] = await t.pawl.people.labels("pairs");
    expect(label!.value).toEqual({ verdict: "remove" });
    expect(troubles).toEqual([]);
  });
});
