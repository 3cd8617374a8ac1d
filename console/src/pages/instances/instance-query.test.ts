import { expect, test } from "vitest";
import { instanceQuery } from "./instance-query.ts";

globalThis.document ??= { baseURI: "https://it/" } as Document;

test("both commands for a terminal have every filter of the address", () => {
  const address = new URLSearchParams(
    "lifecycle=essay&state=failed&state=open&key=it's&failure=deadline&olderThan=2h&idleFor=1h&parent=p&other=x",
  );
  const { url, command } = instanceQuery("essay", address, 50);
  expect(url).toBe(
    "https://it/api/lifecycles/essay/instances?state=failed&state=open&key=it%27s&failure=deadline&olderThan=2h&idleFor=1h&parent=p&limit=50",
  );
  expect(command).toBe(
    `pawl instance list essay --state failed --state open --key 'it'\\''s' --failure deadline --older-than 2h --idle-for 1h --parent p --limit 50`,
  );
});

test("an id is searched in all lifecycles", () => {
  const id = "01940000-0000-7000-8000-00000000000a";
  expect(instanceQuery("essay", new URLSearchParams({ key: ` ${id}`, state: "open" }), 50)).toMatchObject({
    path: "/search",
    filter: { text: [id] },
  });
});
