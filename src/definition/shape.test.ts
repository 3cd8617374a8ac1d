import { describe, expect, test } from "vitest";
import { lifecycle } from "./lifecycle.ts";
import { hashOf, shapeOf, statesAndEdges } from "./shape.ts";

const end = { final: "success" } as const;
const plain = { builtIns: false, initial: "a" } as const;
const first = lifecycle("n", {
  ...plain,
  states: { a: { forever: true, on: { x: "b", y: { set: () => ({}) } } }, b: end },
});

describe("the shape of a definition", () => {
  test("is its states and edges as plain JSON", () => {
    const shape = shapeOf(first);
    expect(JSON.parse(JSON.stringify(shape))).toEqual(shape);
    expect(shape).toEqual({
      states: [
        { name: "a", kind: "wait", final: null },
        { name: "b", kind: "end", final: "success" },
      ],
      edges: [
        { from: "", event: "start", to: "a" },
        { from: "a", event: "x", to: "b" },
        { from: "a", event: "y", to: "a" },
      ],
    });
    expect(hashOf(shape)).toBe("f55ecc22188e39f4");
  });

  test("does not depend on the order of declaration, nor on what may change from day to day", () => {
    const second = lifecycle("n", {
      ...plain,
      states: { b: end, a: { timeout: { after: "1h", send: "x" }, on: { y: { guard: () => true }, x: ["b"] } } },
    });
    expect(hashOf(shapeOf(second))).toBe(hashOf(shapeOf(first)));
  });

  test.each([
    [
      "an edge more",
      lifecycle("n", { ...plain, states: { a: { forever: true, on: { x: "b", y: {}, z: "b" } }, b: end } }),
    ],
    ["another target", lifecycle("n", { ...plain, states: { a: { forever: true, on: { x: "b", y: "b" } }, b: end } })],
    [
      "another kind",
      lifecycle("n", {
        ...plain,
        states: { a: { join: { failed: "count" }, on: { x: "b", joined: "b", y: {} } }, b: end },
      }),
    ],
    [
      "a new name",
      lifecycle("n", {
        ...plain,
        renamed: { c: "a" },
        states: { a: { forever: true, on: { x: "b", y: {} } }, b: end },
      }),
    ],
  ])("%s is another shape", (_, other) => {
    expect(hashOf(shapeOf(other))).not.toBe(hashOf(shapeOf(first)));
  });

  test("the rows that the journal may hold have the start, what stays, what is built in and new names, each once", () => {
    const rows = statesAndEdges(
      lifecycle("n", {
        initial: "a",
        renamed: { old: "a", older: "b" },
        states: { a: { forever: true, on: { x: [{ to: "b", guard: () => "no" }, "b"], y: {} } }, b: end },
      }),
    );
    expect(rows.map((row) => `${row.from} ${row.event} ${row.to}`)).toEqual([
      " start a",
      "a discard discarded",
      "a fail failed",
      "a x b",
      "a y a",
      "b discard discarded",
      "b restart a",
      "failed discard discarded",
      "failed recover a",
      "failed restart a",
      "old rename a",
      "older rename b",
    ]);
  });
});
