import { expect, test } from "vitest";
import { matchesTopic } from "./topic.ts";

const cases: readonly [pattern: string, name: string, matches: boolean][] = [
  ["grading.request", "grading.request", true],
  ["grading.request", "grading.requests", false],
  ["grading.*", "grading.request", true],
  ["grading.*", "grading", false],
  ["grading.*", "grading.request.late", false],
  ["*.request", "grading.request", true],
  ["#", "grading.request", true],
  ["#", "", true],
  ["grading.#", "grading", true],
  ["grading.#", "grading.request.late", true],
  ["#.late", "grading.request.late", true],
  ["#.late", "late", true],
  ["a.#.z", "a.z", true],
  ["a.#.z", "a.b.c.z", true],
  ["a.#.z", "a.b.c", false],
  ["*", "a.b", false],
];

for (const [pattern, name, matches] of cases) {
  test(`${pattern} ${matches ? "means" : "does not mean"} "${name}"`, () => {
    expect(matchesTopic(pattern, name)).toBe(matches);
  });
}
