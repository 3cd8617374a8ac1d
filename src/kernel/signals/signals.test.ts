import { expect, test } from "vitest";
import { checksTopic, Signals } from "./signals.ts";

test("a hint reaches those who wait here, and other processes", () => {
  const signals = new Signals();
  const heard: string[] = [];
  signals.forwardTo((topic) => heard.push(`others: ${topic}`));
  const forget = signals.wait("lane", () => heard.push("here: lane"));
  signals.hint("lane");
  forget();
  signals.hint("lane");
  expect(heard).toEqual(["here: lane", "others: lane", "others: lane"]);
});

test("that parents are to be looked at is told to others only where nobody here looks", () => {
  const signals = new Signals();
  const heard: string[] = [];
  signals.forwardTo((topic) => heard.push(`others: ${topic}`));
  signals.hint(checksTopic);
  signals.wait(checksTopic, () => heard.push("here"));
  signals.hint(checksTopic);
  expect(heard).toEqual([`others: ${checksTopic}`, "here"]);
});

test("who follows hears every hint, until they stop, and is told when anything may have happened", () => {
  const signals = new Signals();
  const heard: (string | undefined)[] = [];
  signals.wait("lane", () => {});
  const forget = signals.follow((topic) => heard.push(topic));
  signals.hint("lane");
  signals.receive("another");
  signals.receiveAll();
  forget();
  signals.hint("lane");
  expect(heard).toEqual(["lane", "another", undefined]);
});
