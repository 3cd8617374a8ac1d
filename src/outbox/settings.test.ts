import { expect, test } from "vitest";
import { memoryBroker } from "./brokers/memory.ts";
import { type RelayOptions, relaySettings } from "./settings.ts";

const broker = memoryBroker();
const slow = Object.assign(Object.create(broker) as typeof broker, { name: "slow", timeoutMs: 30_000 });

test("R61 a relay sends a hundred at a time and looks every second, unless told otherwise", () => {
  expect(relaySettings({ brokers: [broker] })).toMatchObject({
    batchSize: 100,
    pollMs: 1_000,
    retentionMs: 7 * 86_400_000,
  });
  expect(relaySettings({ brokers: [broker], batchSize: 7, pollInterval: "3s", retention: null })).toMatchObject({
    batchSize: 7,
    pollMs: 3_000,
    retentionMs: null,
  });
});

test("what is sent last is confirmed and written down before the lease ends, also with a slow broker", () => {
  for (const brokers of [[broker], [broker, slow]]) {
    const { leaseMs, sendWithinMs } = relaySettings({ brokers });
    const slowestMs = Math.max(...brokers.map(({ timeoutMs }) => timeoutMs));
    expect(leaseMs - sendWithinMs).toBeGreaterThan(slowestMs);
    expect(sendWithinMs).toBeGreaterThan(0);
  }
});

const bad: readonly [what: string, options: Partial<Record<keyof RelayOptions, unknown>>][] = [
  ["no broker", { brokers: [] }],
  ["something that is none", { brokers: [{ name: "x" }] }],
  ["two of one name", { brokers: [memoryBroker(), memoryBroker()] }],
  ["an empty batch", { brokers: [broker], batchSize: 0 }],
  ["half a batch", { brokers: [broker], batchSize: 0.5 }],
  ["too many hands", { brokers: [broker], concurrency: 65 }],
  ["a pause that is none", { brokers: [broker], pollInterval: "soon" }],
  ["a lease shorter than a broker may take", { brokers: [broker], leaseDuration: "5s" }],
  ["a lease of a day", { brokers: [broker], leaseDuration: "1d" }],
  ["a policy without attempts", { brokers: [broker], retry: { maxAttempts: 0, backoff: () => 0 } }],
];
for (const [what, options] of bad) {
  test(`${what} is refused`, () => {
    expect(() => relaySettings(options as never)).toThrow(expect.objectContaining({ code: "option_invalid" }));
  });
}
