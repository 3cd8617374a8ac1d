import { expect, test } from "vitest";
import { PawlError } from "../../base/errors.ts";
import { LeaseExpiry } from "./lease-expiry.ts";

const away = new PawlError("database_unreachable", "The database cannot be reached.");
const leaseMs = 30_000;

/** A database and a process, each with a clock that the test moves. */
function begin({ startedMs = -1_000_000 } = {}) {
  const warnings: string[] = [];
  let monotonicMs = 5_000;
  let clockMs = 1_000_000;
  let serverMs = startedMs;
  const expiry = new LeaseExpiry(
    (text) => warnings.push(text),
    () => monotonicMs,
  );
  expiry.cover(leaseMs);
  return {
    expiry,
    warnings,
    nowMs: () => clockMs,
    pass(ms: number): void {
      monotonicMs += ms;
      clockMs += ms;
    },
    setClock(ms: number): void {
      clockMs += ms;
    },
    restart(): void {
      serverMs = clockMs;
    },
    round: () => expiry.observe({ nowMs: clockMs, clockMs, startedMs: serverMs }, monotonicMs),
  };
}

test("leases are expired while the database answers, also after a single failure", () => {
  const t = begin();
  expect(t.round()).toBe(true);
  t.pass(1_000);
  t.expiry.failed(away);
  t.pass(5_000);
  expect(t.round()).toBe(true);
  expect(t.expiry.wasGap(t.nowMs() - 1_000)).toBe(false);
});

test("a round that comes late without a failure is no gap: this process was held up, and others were not", () => {
  const t = begin();
  t.round();
  t.pass(120_000);
  expect(t.round()).toBe(true);
});

test("after the database was away no lease is expired for one lease duration, and what lapsed meanwhile is known", () => {
  const t = begin();
  t.round();
  const before = t.nowMs();
  t.pass(1_000);
  t.expiry.failed(away);
  t.pass(60_000);
  expect(t.round()).toBe(false);
  t.pass(29_000);
  expect(t.round()).toBe(false);
  t.pass(1_000);
  expect(t.round()).toBe(true);
  expect(t.expiry.wasGap(before - 1)).toBe(false);
  expect(t.expiry.wasGap(before + 15_000)).toBe(true);
  expect(t.expiry.wasGap(t.nowMs() + 1)).toBe(false);
});

test("two outages in a row are one gap", () => {
  const t = begin();
  t.round();
  const before = t.nowMs();
  for (let outage = 0; outage < 2; outage++) {
    t.expiry.failed(away);
    t.pass(40_000);
    expect(t.round()).toBe(false);
  }
  expect(t.expiry.wasGap(before + 10_000)).toBe(true);
});

test("an error that says nothing of the database's being away is no gap", () => {
  const t = begin();
  t.round();
  t.expiry.failed(new PawlError("busy", "The database is busy."));
  t.expiry.failed(new Error("a bug"));
  t.pass(40_000);
  expect(t.round()).toBe(true);
});

for (const jumpMs of [3_600_000, -3_600_000]) {
  test(`a clock that is set by ${jumpMs / 1_000} s is a gap, and is warned of`, () => {
    const t = begin();
    t.round();
    t.pass(1_000);
    t.setClock(jumpMs);
    expect(t.round()).toBe(false);
    expect(t.warnings).toEqual([expect.stringContaining(`${jumpMs > 0 ? "ahead" : "back"} by 3600 s`)]);
    t.pass(leaseMs);
    expect(t.round()).toBe(true);
    expect(t.warnings).toHaveLength(1);
  });
}

for (const [first, second] of [
  [3_600_000, -3_600_000],
  [-3_600_000, 3_600_000],
] as const) {
  test(`leases that were renewed between a jump of ${first / 1_000} s and its end do not lapse, and spend no attempt`, () => {
    const t = begin();
    t.round();
    t.pass(1_000);
    t.setClock(first);
    expect(t.round()).toBe(false);
    t.pass(2 * leaseMs);
    expect(t.round()).toBe(true);
    const leasedUntilMs = t.nowMs() + leaseMs;
    t.setClock(second);
    expect(t.round(), "workers need one lease duration to renew").toBe(false);
    if (second > 0) expect(t.expiry.wasGap(leasedUntilMs)).toBe(true);
    t.pass(leaseMs);
    expect(t.round()).toBe(true);
  });
}

test("another server that answers is a gap", () => {
  const t = begin();
  t.round();
  t.pass(1_000);
  t.restart();
  expect(t.round()).toBe(false);
});

test("a process that begins right after its server did expires nothing until workers have had time to renew", () => {
  const t = begin({ startedMs: 1_000_000 - 10_000 });
  expect(t.round()).toBe(false);
  t.pass(20_000);
  expect(t.round()).toBe(true);
  expect(t.expiry.wasGap(0)).toBe(true);
});

test("a commit that hangs is a gap: leases that lapsed meanwhile could be read and not renewed", () => {
  const t = begin();
  t.round();
  const nowMs = t.nowMs();
  expect(t.expiry.committed(nowMs, 100)).toBe(true);
  expect(t.expiry.wasGap(nowMs)).toBe(false);
  expect(t.expiry.committed(nowMs, leaseMs)).toBe(false);
  expect(t.expiry.wasGap(nowMs)).toBe(true);
  t.pass(leaseMs);
  expect(t.round(), "workers need one lease duration to renew").toBe(false);
  t.pass(leaseMs);
  expect(t.round()).toBe(true);
});
