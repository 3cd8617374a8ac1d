import { expect, test } from "vitest";
import { Timing } from "./timing.ts";

const queue = { finishWithinMs: 600_000, graceMs: 30_000 };
const deadline = "2026-01-01T12:10:00.000Z";

function timingAt(moment: string) {
  const clock = { now: 1_000 };
  const timing = new Timing(() => clock.now);
  timing.setServerTime(moment);
  return { timing, clock };
}

test("what is left is told by the clock that counts, however wrong that of the machine is", () => {
  const { timing, clock } = timingAt("2026-01-01T12:00:00.000Z");
  expect(timing.left(deadline)).toBe(600_000);
  clock.now += 60_000;
  expect(timing.left(deadline)).toBe(540_000);
  timing.setServerTime("2026-01-01T12:09:00.000Z");
  expect(timing.left(deadline)).toBe(60_000);
});

test("the time begins again when half of it is gone, for somebody who has worked since, once", () => {
  const { timing, clock } = timingAt("2026-01-01T12:00:00.000Z");
  expect(timing.due(299_000, queue)).toBeUndefined();
  clock.now += 1;
  timing.touch();
  expect(timing.due(301_000, queue)).toBeUndefined();
  expect(timing.due(299_000, queue)).toBe("extend");
  clock.now += 1;
  timing.extended();
  expect(timing.due(299_000, queue)).toBeUndefined();
});

test("only when the grace is over, too, is there a look whether all of it is", () => {
  const { timing } = timingAt("2026-01-01T12:00:00.000Z");
  expect(timing.due(-29_000, queue)).toBeUndefined();
  expect(timing.due(-30_000, queue)).toBe("look");
});

test("whoever has not touched the page for a minute is not there", () => {
  const { timing, clock } = timingAt("2026-01-01T12:00:00.000Z");
  clock.now += 61_000;
  expect(timing.isPresent).toBe(false);
  timing.touch();
  expect(timing.isPresent).toBe(true);
});
