import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PawlError } from "../base/errors.ts";
import type { Kernel } from "./kernel.ts";
import { retryThroughOutage } from "./retry-through-outage.ts";
import { retryUntilKnown } from "./retry-unknown-outcome.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const lost = new PawlError("outcome_unknown", "The connection was lost.");

/** A database whose replies are lost for so long, and what it was asked to confirm. */
function away(ms: number, outcomeTimeoutMs: number) {
  const endAt = performance.now() + ms;
  const confirm = vi.fn(async () => {});
  const round = vi.fn(async () => {
    if (performance.now() < endAt) throw lost;
    return "found";
  });
  return { kernel: { db: { confirm }, outcomeTimeoutMs } as unknown as Kernel, round, confirm };
}

test("a call asks for what became of it until its timeout, and what it finds is confirmed", async () => {
  const { kernel, round, confirm } = away(45_000, 60_000);
  const result = retryUntilKnown(kernel, round);
  await vi.advanceTimersByTimeAsync(50_000);
  expect(await result).toBe("found");
  expect(confirm).toHaveBeenCalledOnce();
});

test("after its timeout a call says that its outcome is unknown", async () => {
  const { kernel, round } = away(45_000, 10_000);
  const result = expect(retryUntilKnown(kernel, round)).rejects.toMatchObject({ code: "outcome_unknown" });
  await vi.advanceTimersByTimeAsync(10_000);
  await result;
});

test("a step waits for as long as the outage lasts, or until it is aborted", async () => {
  const { kernel, round, confirm } = away(600_000, 10_000);
  const result = retryThroughOutage(kernel, new AbortController().signal, round);
  await vi.advanceTimersByTimeAsync(610_000);
  expect(await result).toBe("found");
  expect(confirm).toHaveBeenCalledOnce();

  const abort = new AbortController();
  const aborted = expect(
    retryThroughOutage(away(600_000, 10_000).kernel, abort.signal, away(600_000, 0).round),
  ).rejects;
  abort.abort();
  await Promise.all([aborted.toBe(lost), vi.advanceTimersByTimeAsync(5_000)]);
});

test("a step hears at once of everything that waiting does not mend", async () => {
  const { kernel } = away(0, 10_000);
  const gone = new PawlError("lease_lost", "The lease was lost.");
  await expect(retryThroughOutage(kernel, new AbortController().signal, () => Promise.reject(gone))).rejects.toBe(gone);
});
