import { readFileSync } from "node:fs";
import { constant, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { explanation } from "../../../src/http/routes/responses/explanation-response.ts";
import { testPawl } from "../../../src/testing/test-pawl.ts";

const guide = readFileSync(new URL("../../../docs/guides/explain.md", import.meta.url), "utf8");
const printed = [...guide.matchAll(/```text\n([\s\S]*?)```/g)].map((match) => match[1]!.trimEnd());

test("the guide prints what an instance says in each state of its example", async () => {
  const parcel = lifecycle("parcel", {
    data: z.object({ address: z.string() }),
    initial: "packed",
    states: {
      packed: { timeout: { after: "2d", send: "return" }, on: { ship: "shipping", return: "returned" } },
      shipping: {
        run: () => {
          throw new Error("The carrier answered 503.");
        },
        retry: { maxAttempts: 3, backoff: constant("1m") },
        on: { shipped: "delivered" },
      },
      delivered: { final: "success" },
      returned: { final: "failure" },
    },
  });
  await using t = await testPawl({ lifecycles: [parcel] });
  const said: string[] = [];
  const say = async () => {
    const { sentences } = await t.pawl.explain(parcel, "p1");
    said.push(sentences.join("\n").replace(/(?<=Dead letter )[0-9a-f-]{36}/, "…"));
  };
  await t.pawl.start(parcel, { key: "p1", data: { address: "Elm 3" } });
  await say();
  await t.pawl.send(parcel, "p1", "ship");
  await t.advance("61s");
  await say();
  await t.work();
  await say();
  for (let attempt = 2; attempt <= 3; attempt++) {
    await t.advance("1m");
    await t.work();
  }
  await say();
  expect(said).toEqual(printed);
});

test("the guide lists every kind of wait and every reason of being stuck", () => {
  const { next, stuck } = explanation.properties!;
  const kinds = next!.properties!.kind!.enum!;
  const reasons = stuck!.properties!.reason!.enum!;
  expect(kinds.length + reasons.length).toBeGreaterThan(20);
  for (const name of [...kinds, ...reasons]) expect(guide).toContain(`\n| \`${name}\` |`);
});
