import { expect, test } from "vitest";
import { durationMs } from "../base/duration.ts";
import { defaults, settingsOf, type WorkOptions } from "./settings.ts";
import { errorWaitMs } from "./worker.ts";

test("at default settings, the tasks of a worker that dies are taken over within 45 seconds", () => {
  const [leaseMs, pollMs, maintainEveryMs] = [
    defaults.leaseDuration,
    defaults.pollInterval,
    defaults.maintenanceInterval,
  ].map((one) => durationMs(one, "default")) as [number, number, number];
  // In the worst case it dies just after a renewal. Then its lease runs out; the next maintenance round has just ended,
  // or waits after an error; and the worker that claims the task has just begun to sleep, if no hint wakes it.
  const foundMs = leaseMs + Math.max(maintainEveryMs + pollMs, errorWaitMs);
  expect(foundMs + pollMs).toBeLessThanOrEqual(45_000);
});

test("a misspelt option is refused with the name that was probably meant", () => {
  const misspelt = { concurency: 8 } as WorkOptions;
  expect(() => settingsOf(misspelt, {} as never)).toThrow(
    "Unknown option `concurency` for `work`. Did you mean `concurrency`?",
  );
});
