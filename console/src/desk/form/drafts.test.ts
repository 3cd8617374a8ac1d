import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Drafts } from "./drafts.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A server that stores drafts, and fails on demand. */
function server() {
  const kept: unknown[] = [];
  const state = { fails: false };
  const drafts = new Drafts(async (entered) => {
    if (state.fails) throw new Error("away");
    kept.push(entered);
  });
  return { drafts, kept, state };
}

test("what is typed is written once in two seconds, as it is by then", async () => {
  const { drafts, kept } = server();
  drafts.changed("a");
  await vi.advanceTimersByTimeAsync(1_900);
  drafts.changed("ab");
  expect([kept, drafts.state.value]).toEqual([[], "waiting"]);
  await vi.advanceTimersByTimeAsync(100);
  expect([kept, drafts.state.value]).toEqual([["ab"], "kept"]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(kept).toEqual(["ab"]);
});

test("what could not be written is written with the next change, or when the page is left", async () => {
  const { drafts, kept, state } = server();
  state.fails = true;
  drafts.changed("a");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(drafts.state.value).toBe("failed");
  state.fails = false;
  await drafts.write(true);
  expect([kept, drafts.state.value]).toEqual([["a"], "kept"]);
});

test("while a label is handed in nothing is written; it is when the label was refused, and not when it was taken", async () => {
  const { drafts, kept } = server();
  drafts.changed("a");
  await drafts.hold();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(kept).toEqual([]);
  drafts.resume();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(kept).toEqual(["a"]);
  drafts.changed("b");
  drafts.reset(false);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([kept, drafts.state.value]).toEqual([["a"], "none"]);
});
