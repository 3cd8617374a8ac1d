import { expect, test, vi } from "vitest";
import type { Db, ListenOptions, Statement } from "../../store/port/db.ts";
import { Notifier } from "./notifier.ts";
import { Signals } from "./signals.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Two processes whose notifications go straight to each other. */
function pair() {
  const sent: string[] = [];
  const listening: ListenOptions[] = [];
  const waiting = new Set<() => void>();
  const db = {
    rows: async (statement: Statement) => {
      sent.push(String(statement.values[0]));
      for (const one of listening) one.onNotice(sent.at(-1)!);
      for (const wake of waiting) wake();
      return [];
    },
    listen: (options: ListenOptions) => {
      listening.push(options);
      return { stop: async () => {} };
    },
  } as unknown as Db;
  const make = () => {
    const signals = new Signals();
    const notifier = new Notifier(db, signals, silent);
    notifier.listen();
    return { signals, notifier };
  };
  const next = () => new Promise<void>((resolve) => waiting.add(resolve));
  return { one: make(), other: make(), sent, next };
}

function heard(signals: Signals, ...topics: string[]): string[] {
  const list: string[] = [];
  for (const topic of topics) signals.wait(topic, () => list.push(topic));
  return list;
}

const id = "0199a0b1-0000-7000-8000-000000000000";

test("hints of a moment go to other processes as one notification, and do not come back", async () => {
  const { one, other, sent, next } = pair();
  const here = heard(one.signals, "essay@1/grading", id);
  const there = heard(other.signals, "essay@1/grading", "send-email@1/pending", id, "never");
  const told = next();
  for (const topic of ["essay@1/grading", "send-email@1/pending", "essay@1/grading", id]) one.signals.hint(topic);
  await told;
  expect(sent).toHaveLength(1);
  expect(there).toEqual(["essay@1/grading", "send-email@1/pending", id]);
  expect(here, "at once, and once for each hint").toEqual(["essay@1/grading", "essay@1/grading", id]);
});

test("after a silence a hint is told at once, however often; many are told ten to fifty milliseconds apart", async () => {
  vi.useFakeTimers();
  try {
    const { one, sent } = pair();
    const hints = (count: number) => {
      for (let n = 0; n < count; n++) one.signals.hint("lane@1/x");
    };
    for (let turn = 1; turn <= 50; turn++) {
      hints(1);
      await vi.advanceTimersByTimeAsync(0);
      expect(sent).toHaveLength(turn);
      await vi.advanceTimersByTimeAsync(turn % 2 === 0 ? 11 : 20);
    }
    sent.length = 0;
    // A hundred hints a millisecond, for half a second: ten, twenty and forty milliseconds apart, then fifty each time.
    for (let ms = 0; ms < 500; ms++) {
      hints(100);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(sent.length).toBeGreaterThan(8);
    expect(sent.length).toBeLessThan(16);
    await vi.advanceTimersByTimeAsync(100);
    sent.length = 0;
    for (let turn = 1; turn <= 5; turn++) {
      hints(1);
      await vi.advanceTimersByTimeAsync(51);
      expect(sent, "it has calmed down").toHaveLength(turn);
    }
  } finally {
    vi.useRealTimers();
  }
});

test("a notification stays far below what one may hold: many instances are not named, too many lanes become a call to all", async () => {
  const { one, other, sent, next } = pair();
  const lanes = Array.from({ length: 300 }, (_, n) => `a-lifecycle-with-a-long-name@1/state_${n}`);
  const there = heard(other.signals, "lane@1/x", lanes[299]!, "unrelated@1/x");
  let told = next();
  for (let n = 0; n < 200; n++) one.signals.hint(`${id.slice(0, -3)}${n + 100}`);
  one.signals.hint("lane@1/x");
  await told;
  expect(sent[0]!.split(" ")).toHaveLength(2);
  told = next();
  for (const lane of lanes) one.signals.hint(lane);
  await told;
  expect(Math.max(...sent.map((text) => Buffer.byteLength(text)))).toBeLessThan(7_900);
  expect(there).toEqual(["lane@1/x", "lane@1/x", lanes[299], "unrelated@1/x"]);
});

test("what is hinted at inside a transaction is told when it has come true, and not at all when it has not", async () => {
  const signals = new Signals();
  const list = heard(signals, "a", "b");
  await signals.afterCommit(async () => {
    signals.hint("a");
    expect(list).toEqual([]);
  });
  expect(list).toEqual(["a"]);
  const undone = signals.afterCommit(async () => {
    signals.hint("b");
    throw new Error("no");
  });
  await expect(undone).rejects.toThrow("no");
  expect(list).toEqual(["a"]);
});
