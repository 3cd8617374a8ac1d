import { constant, lifecycle } from "pawl";
import { type HttpServer, serveHttp } from "pawl/http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { builtPages } from "../setup/compile.ts";
import { inBrowser } from "../setup/suites.ts";
import { axeFaults, sideways } from "../support/pages/axe.ts";
import { openBrowser, openPage } from "../support/pages/browser.ts";

const parcel = lifecycle("parcel", {
  initial: "packed",
  recovery: { maxFailures: 2, after: "10m" },
  states: {
    packed: {
      timeout: { after: "1h", send: "lose" },
      recoverWith: "lose",
      on: { ship: "shipping", park: "parked", lose: "lost" },
    },
    shipping: {
      run: () => {},
      retry: { maxAttempts: 3, backoff: constant("5m") },
      on: { shipped: "parked" },
    },
    parked: { forever: true, recoverWith: "go", on: { go: "away" } },
    away: { final: "success" },
    lost: { final: "failure" },
  },
});

inBrowser("the instance page says why an instance does not move", () => {
  let t: TestPawl;
  let server: HttpServer;
  let browser: Browser;
  let page: Page;
  let troubles: string[];

  beforeAll(async () => {
    t = await testPawl({ lifecycles: [parcel] });
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

  const panel = () => page.getByRole("region", { name: "Why it does not move" });
  const rows = () => panel().getByRole("listitem");

  async function open(key: string): Promise<void> {
    const { id } = await t.pawl.start(parcel, { key });
    await page.goto(`${server.url}/instances/${id}`);
    await panel().waitFor();
  }

  /** What cannot be used by everybody, in both colour schemes, and wide or narrow. */
  async function faults(): Promise<unknown[]> {
    const found: unknown[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(...(await axeFaults(page)));
    }
    await page.setViewportSize({ width: 390, height: 800 });
    if ((await sideways(page)) !== 0) found.push("wider than a telephone");
    await page.setViewportSize({ width: 1280, height: 900 });
    return found;
  }

  test("what it waits for, for how long, and what happens next, counting down by the clock of the database", async () => {
    await open("p1");
    await rows().getByText("It waits for ship, park or lose. At").waitFor();
    // The clock of this test stands in 2030; that of the browser does not.
    const left = panel().getByRole("timer");
    await expect.poll(() => left.first().textContent()).toMatch(/^in (?:1:00:00|59:\d\d)$/);
    const before = await left.first().textContent();
    await expect.poll(() => left.first().textContent()).not.toBe(before);
    await panel().getByText("The timeout sends lose.").waitFor();
    expect(await panel().getByText(/Stuck/).count()).toBe(0);
    expect(await faults()).toEqual([]);
  });

  test("a step that is paused, retried or waits for a worker says so, and follows what happens", async () => {
    await open("p2");
    await t.pawl.send(parcel, "p2", "ship");
    await rows().getByText("no live worker serves this lane").waitFor();
    await panel().getByRole("link", { name: "Open workers" }).waitFor();
    await t.pawl.lanes.pause(parcel, { state: "shipping", reason: "the van is broken", actor: "grace" });
    await page.reload();
    await rows().getByText("the lane has been paused by grace since").waitFor();
    await rows().getByText("the van is broken").waitFor();
    await t.pawl.lanes.resume(parcel, { state: "shipping" });
    await (await t.claim("parcel/shipping")).fail(new Error("The road is closed."));
    await page.reload();
    await rows().getByText("(attempt 2 of 3). The last attempt failed: Error: The road is closed.").waitFor();
    await panel().getByText("The step runs.").waitFor();
    await panel().getByText("If it fails").click();
    await panel().getByText("it would recover automatically after 10 minutes").waitFor();
  });

  test("a stuck instance shows a warning with what to do, and its failure", async () => {
    await open("p3");
    await t.pawl.send(parcel, "p3", "ship");
    await t.advance("2m");
    await page.reload();
    await panel()
      .getByText(/^Stuck for 2 min/)
      .waitFor();
    await panel().getByText("Start a worker that serves this lane.").waitFor();
    expect(await faults()).toEqual([]);
    await t.pawl.send(parcel, "p3", "fail");
    await panel().getByText("It recovers in shipping.").waitFor();
    await panel().getByText("Failure and recovery").waitFor();
    await panel().getByText("It has failed once since it was started or restarted; the limit is 2.").waitFor();
    await t.advance("10m");
    await (await t.claim("parcel/failed")).run();
    await t.pawl.send(parcel, "p3", "fail");
    await panel().getByText("Requeue or discard the dead letter.").waitFor();
    await panel().getByText("Nothing happens by itself until a person decides about its dead letter").waitFor();
    expect(await faults()).toEqual([]);
    await panel().getByRole("link", { name: "Open dead letters" }).click();
    await page.getByRole("heading", { name: "Dead letters" }).waitFor();
  });

  test("an instance that has ended waits for nothing, and has no such panel", async () => {
    await open("p4");
    await rows().getByText("It waits for").waitFor();
    for (const event of ["park", "go"] as const) await t.pawl.send(parcel, "p4", event);
    await panel().waitFor({ state: "detached" });
  });

  test("nothing of all this troubled the browser", () => expect(troubles).toEqual([]));
});
