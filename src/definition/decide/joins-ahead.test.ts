import { expect, test } from "vitest";
import { lifecycle } from "../lifecycle.ts";
import { shapeOf } from "../shape.ts";
import { joinsAhead } from "./joins-ahead.ts";

function shape(failed: "fail" | "count" | "wait") {
  return shapeOf(
    lifecycle("parent", {
      initial: "open",
      states: {
        open: { forever: true, on: { go: "joining", skip: "after" } },
        joining: { join: { failed }, on: { joined: "after" } },
        after: { forever: true, on: { end: "done" } },
        done: { final: "success" },
      },
    }) as never,
  );
}

test("a join ahead that fails by its children, or counts them, deals with a failed child; one that waits does not", () => {
  expect(joinsAhead(shape("fail"), "open")).toBe(true);
  expect(joinsAhead(shape("count"), "joining")).toBe(true);
  expect(joinsAhead(shape("wait"), "open")).toBe(false);
});

test("a join that lies behind deals with nothing, though a restart leads back", () => {
  expect(joinsAhead(shape("fail"), "after")).toBe(false);
});
