import { type Browser, chromium, type Page } from "playwright-core";

/** Chromium, headless, without network except for the pages that a test opens. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.PAWL_TEST_CHROMIUM!,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
}

/** A page of its own, with its errors: a test expects none at its end. */
export async function openPage(
  browser: Browser,
  size: { width: number; height: number } = { width: 1280, height: 900 },
): Promise<{ page: Page; troubles: string[] }> {
  const context = await browser.newContext({ viewport: size });
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(message.text());
  });
  return { page, troubles };
}
