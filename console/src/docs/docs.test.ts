import { expect, test } from "vitest";
import { openapi } from "../../../src/http/api/openapi.ts";
import { type ApiDocument, findOperations, kindOf, operationsOf, shapeIn } from "./document.ts";
import { bodyToBeginWith, curlOf, missingIn, requestOf } from "./request.ts";

const document = openapi() as unknown as ApiDocument;
const all = operationsOf(document);
const named = (id: string) => all.find((one) => one.id === id)!;

test("an operation is found by the words of its path, its name and what it does", () => {
  const found = findOperations(all, "POST old archive");
  expect([...found]).toEqual([["Dead letters", [named("archiveDeadLetters")]]]);
  expect(findOperations(all, "xyzzy").size).toBe(0);
  expect([...findOperations(all, " ").values()].flat()).toHaveLength(all.length);
});

test("a request is made of what was filled in, and is the same for a terminal", () => {
  const parameters = { id: "a/b", event: "graded", "Idempotency-Key": "k" };
  const sent = requestOf(named("send"), { parameters, body: `{"payload":"it's"}` }, "https://here/pawl/");
  expect(sent).toEqual({
    method: "POST",
    url: "https://here/pawl/api/instances/a%2Fb/events/graded",
    headers: { "Idempotency-Key": "k", "Content-Type": "application/json" },
    body: `{"payload":"it's"}`,
    isStream: false,
  });
  expect(curlOf(sent).split(" \\\n  ")).toEqual([
    "curl -X POST 'https://here/pawl/api/instances/a%2Fb/events/graded'",
    '-H "Authorization: Bearer $PAWL_TOKEN"',
    "-H 'Idempotency-Key: k'",
    "-H 'Content-Type: application/json'",
    `-d '{"payload":"it'\\''s"}'`,
  ]);
  expect(curlOf(requestOf(named("live"), { parameters: {}, body: "" }, "https://h"))).toMatch(/^curl -N 'https:/);
  const asked = requestOf(
    named("listInstances"),
    { parameters: { lifecycle: "essay", state: "a, b" }, body: "" },
    "https://h",
  );
  expect(asked).toMatchObject({ url: "https://h/api/lifecycles/essay/instances?state=a&state=b", body: null });
});

test("what is needed is told, and stands in the body to begin with", () => {
  expect(missingIn(named("send"), { parameters: { id: "1" }, body: "" })).toEqual(["event"]);
  expect(bodyToBeginWith(document, named("forceBreaker").body)).toBe('{\n  "to": "open",\n  "reason": ""\n}');
  expect(bodyToBeginWith(document, named("send").body)).toBe("{}");
  expect(bodyToBeginWith(document, named("get").body)).toBe("");
});

test("a schema is told in words, and opened where it has parts", () => {
  expect(kindOf(named("listInstances").answers)).toBe("list of Instance");
  expect(Object.keys(shapeIn(document, named("listInstances").answers)!.properties!)).toContain("movedAt");
  expect(kindOf(shapeIn(document, named("get").answers)!.properties!.key!)).toBe("text or null");
  expect(kindOf(named("counts").answers)).toBe("object of whole number");
  expect(shapeIn(document, named("counts").answers)).toBeUndefined();
});
