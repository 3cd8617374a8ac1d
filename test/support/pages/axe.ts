import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
}

/** Accessibility faults of this page, for keyboards, screen readers and weak eyes; none is the good answer. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(source, "utf8"));
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  });
}

const looked = new WeakMap<Page, Set<string>>();

/** The same, for each part that a page shows only once: the check takes longer than most tests. */
export async function axeFaultsOnce(page: Page): Promise<string[]> {
  const places = looked.get(page) ?? new Set();
  looked.set(page, places);
  const place = new URL(page.url()).pathname;
  if (places.has(place)) return [];
  places.add(place);
  return axeFaults(page);
}

/** By how many pixels the page is wider than its window. */
export function sideways(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}
