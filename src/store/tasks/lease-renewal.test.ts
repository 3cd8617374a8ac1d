import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LeaseRenewal } from "./lease-renewal.ts";
import type { Lease, Renewal } from "./tasks.ts";

const [a, b] = [
  { taskId: "a", token: 1 },
  { taskId: "b", token: 2 },
];

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function renewing(answers: (leases: readonly Lease[]) => Renewal) {
  const held: Lease[] = [a, b];
  const asked: string[] = [];
  const lost: Lease[] = [];
  const failures: unknown[] = [];
  const renewal = new LeaseRenewal({
    everyMs: 1_000,
    read: () => held,
    renew: async (leases) => {
      asked.push(leases.map(({ taskId, token }) => `${taskId}${token}`).join());
      return answers(leases);
    },
    onLost: (leases) => lost.push(...leases),
    onFailure: (error) => failures.push(error),
  });
  return { renewal, held, asked, lost, failures };
}

test("all leases are renewed once a round, and what the database calls lost is reported with its token", async () => {
  const t = renewing((leases) => ({ lost: leases.filter(({ taskId }) => taskId === "b"), skipped: [] }));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(t.asked).toEqual(["a1,b2", "a1,b2"]);
  expect(t.lost).toEqual([b, b]);
  await t.renewal.stop();
});

test("a lease whose row was locked is tried again well before the next round, alone, and is not lost", async () => {
  let locked = 3;
  const t = renewing((leases) => ({ lost: [], skipped: leases.filter((one) => one === b && locked-- > 0) }));
  await vi.advanceTimersByTimeAsync(1_200);
  expect(t.asked).toEqual(["a1,b2", "b2", "b2", "b2"]);
  expect(t.lost).toEqual([]);
  await t.renewal.stop();
});

test("a lease that was reported, or has a newer token by now, is not tried again", async () => {
  const t = renewing((leases) => ({ lost: [], skipped: [...leases] }));
  await vi.advanceTimersByTimeAsync(1_000);
  t.held.splice(0, 2, { ...a, token: 3 });
  await vi.advanceTimersByTimeAsync(900);
  expect(t.asked).toEqual(["a1,b2"]);
  await t.renewal.stop();
});

test("a renewal that fails is tried again soon, loses nothing, and is complained about once a round", async () => {
  let isDown = true;
  const t = renewing(() => {
    if (isDown) throw new Error("no answer");
    return { lost: [], skipped: [] };
  });
  await vi.advanceTimersByTimeAsync(2_900);
  expect(t.asked.length).toBeGreaterThan(20);
  expect(t.failures).toHaveLength(2);
  expect(t.lost).toEqual([]);
  isDown = false;
  await vi.advanceTimersByTimeAsync(50);
  const { length } = t.asked;
  await vi.advanceTimersByTimeAsync(40);
  expect(t.asked).toHaveLength(length);
  await t.renewal.stop();
});

test("a listener that throws does not end the renewals", async () => {
  let renewals = 0;
  const fail = () => {
    throw new Error("a listener's own");
  };
  const renewal = new LeaseRenewal({
    everyMs: 1_000,
    read: () => [a],
    renew: async () => {
      renewals += 1;
      if (renewals > 1) throw new Error("no answer");
      return { lost: [a], skipped: [] };
    },
    onLost: fail,
    onFailure: fail,
  });
  await vi.advanceTimersByTimeAsync(3_000);
  expect(renewals).toBeGreaterThan(3);
  await renewal.stop();
});
