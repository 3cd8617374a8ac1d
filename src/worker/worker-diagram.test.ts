import { expect, test } from "vitest";
import { workerMoves } from "./states.ts";
import { workerDiagram } from "./worker-diagram.ts";

test("R93 R101 the worker's own states can be exported as a diagram: 11 states, 16 transitions", () => {
  const lines = workerDiagram().split("\n");
  expect(lines[0]).toBe("stateDiagram-v2");
  const states = lines.flatMap((line) => /^ {2}state (\w+)$/.exec(line)?.[1] ?? []);
  expect(states.sort()).toEqual([
    ...["Backoff", "Claiming", "Connecting", "ErrorWait", "Idle", "Polling"],
    ...["Processing", "Recovery", "ReportingFailure", "ReportingSuccess", "Startup"],
  ]);
  const drawn = lines.filter((line) => line.includes(" --> ") && !line.includes("[*]")).map((line) => line.trim());
  expect(drawn).toEqual([
    ...workerMoves.map(([from, to]) => `${from} --> ${to}`),
    "AnyState --> ErrorWait: unhandled error",
  ]);
  expect(drawn).toHaveLength(16);
});
