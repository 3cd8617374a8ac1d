import { expect, test } from "vitest";
import { PawlError } from "../../base/errors.ts";
import { openWhenReachable } from "./open-when-reachable.ts";

const away = new PawlError("database_unreachable", "The database cannot be reached.");
const never = new Promise<void>(() => {});

test("a database that cannot be reached is waited for, with growing pauses", async () => {
  const pauses: number[] = [];
  let tries = 0;
  const open = async () => {
    tries += 1;
    if (tries < 7) throw away;
    return "open";
  };
  const opened = await openWhenReachable(open, {
    stopped: never,
    onWait: (_error, pauseMs) => pauses.push(pauseMs),
    pause: async () => {},
  });
  expect(opened).toBe("open");
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test("a signal to stop ends the waiting", async () => {
  const opened = openWhenReachable(() => Promise.reject(away), {
    stopped: Promise.resolve(),
    onWait: () => {},
    pause: () => never,
  });
  expect(await opened).toBeUndefined();
});

test("what waiting cannot help is thrown at once", async () => {
  const refused = new PawlError("database_refused", "The database refuses.");
  const opened = openWhenReachable(() => Promise.reject(refused), { stopped: never, onWait: () => {} });
  await expect(opened).rejects.toBe(refused);
});
