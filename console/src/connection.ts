import { signal } from "@preact/signals";

/** What does not respond, and since when. */
export interface Away {
  readonly what: "Pawl" | "The database";
  readonly since: number;
}

/** Undefined while everything responds. */
export const away = signal<Away | undefined>(undefined);

/** Rises when Pawl responds again: what is on the page is then requested again. */
export const recoveries = signal(0);

const everyMs = 2_000;
let isProbing = false;

/** Called after a request without a response, or one that said that the database is away. */
export function noteAway(what: Away["what"]): void {
  if (away.value?.what !== what) away.value = { what, since: away.value?.since ?? Date.now() };
  void probe();
}

/** Checks at once whether Pawl responds, such as after the live stream broke. */
export async function probe(): Promise<void> {
  if (isProbing) return;
  isProbing = true;
  try {
    for (;;) {
      const what = await whatIsAway();
      if (what === undefined) break;
      if (away.value?.what !== what) away.value = { what, since: away.value?.since ?? Date.now() };
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  } finally {
    isProbing = false;
  }
  if (away.value === undefined) return;
  away.value = undefined;
  recoveries.value += 1;
}

async function whatIsAway(): Promise<Away["what"] | undefined> {
  try {
    const { ok, status } = await fetch(new URL("ready", document.baseURI), { cache: "no-store" });
    // A proxy answers 502 or 504 in the place of Pawl.
    return ok ? undefined : status === 503 ? "The database" : "Pawl";
  } catch {
    return "Pawl";
  }
}
