import { queue } from "pawl";
import { testPawl } from "pawl/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { callIn } from "../../src/cli/transport/reach.ts";
import type { RouteName } from "../../src/http/routes/routes.ts";

type Answer = Record<string, unknown> & { id: string; assignment: { id: string }; label: { id: string } };

const pictures = queue("pictures", { label: z.object({ animal: z.enum(["cat", "dog"]) }), overlap: 2, review: true });

let t: Awaited<ReturnType<typeof testPawl>>;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [], queues: [pictures] });
});
afterAll(() => t.close());

async function ask(verb: RouteName, args: Record<string, unknown> = {}): Promise<Answer> {
  return (await callIn(t.pawl)(verb, args)) as Answer;
}

test("everything about people can be asked for by name, and is plain JSON", async () => {
  expect(await ask("queues")).toMatchObject([{ name: "pictures", createdAt: expect.stringMatching(/Z$/) }]);
  expect(await ask("createQueue", { queue: "words", definition: { label: { type: "string" } } })).toMatchObject({
    name: "words",
  });
  expect(await ask("deactivateQueue", { queue: "words" })).toMatchObject({ active: false });
  expect(await ask("activateQueue", { queue: "words" })).toMatchObject({ active: true });
  expect(await ask("upsertLabeler", { id: "ada", name: "Ada", skills: ["latin"] })).toMatchObject({
    skills: ["latin"],
    active: true,
  });
  expect(await ask("upsertLabeler", { id: "ada", active: false })).toMatchObject({ name: "Ada", active: false });
  expect(await ask("labelers")).toMatchObject([{ id: "ada" }]);

  const samples = [
    { key: "one", data: { url: "1.png" } },
    { key: "two", data: { url: "2.png" }, gold: { animal: "cat" } },
  ];
  const added = (await ask("addSamples", { queue: "pictures", samples, actor: "lea" })) as unknown as Answer[];
  expect(added).toMatchObject([{ key: "one" }, { key: "two" }]);
  const [, two] = added;
  const { assignment, ...given } = await ask("next", { queue: "pictures", labeler: "ben" });
  expect(given).toMatchObject({ resumed: false, sample: { key: "one", data: { url: "1.png" } } });
  const { id } = assignment;
  expect(await ask("startAssignment", { id, labeler: "ben", idempotencyKey: "k" })).toMatchObject({
    status: "in_progress",
  });
  expect(await ask("extendAssignment", { id, labeler: "ben" })).toMatchObject({ status: "in_progress" });
  const done = await ask("submitLabel", { id, labeler: "ben", label: { animal: "cat" } });
  expect(done).toMatchObject({ late: false, assignment: { status: "completed" } });
  expect(await ask("acceptLabel", { id: done.label.id, actor: "lea", comment: "good" })).toMatchObject({
    review: "accepted",
  });

  const other = await ask("next", { queue: "pictures", labeler: "cem" });
  await ask("startAssignment", { id: other.assignment.id, labeler: "cem" });
  const wrong = await ask("submitLabel", { id: other.assignment.id, labeler: "cem", label: { animal: "dog" } });
  const rejected = await ask("rejectLabel", { id: wrong.label.id, actor: "lea" });
  expect(rejected).toMatchObject({
    label: { review: "rejected" },
    revision: { status: "pending", revisionOf: other.assignment.id },
  });
  const revision = (rejected.revision as { id: string }).id;
  expect(await ask("releaseAssignment", { id: revision, actor: "lea", reason: "away" })).toMatchObject({
    status: "expired",
  });

  const skipped = await ask("next", { queue: "pictures", labeler: "dan" });
  await ask("startAssignment", { id: skipped.assignment.id, labeler: "dan" });
  expect(await ask("skipAssignment", { id: skipped.assignment.id, labeler: "dan", reason: "dark" })).toMatchObject({
    skipReason: "dark",
  });
  expect(await ask("assignment", { id })).toMatchObject({ labelerId: "ben" });
  expect(await ask("assignments", { queue: "pictures", labeler: "ben", status: "completed" })).toHaveLength(1);
  expect(await ask("labels", { queue: "pictures", limit: 1 })).toHaveLength(1);
  expect(await ask("labels", { queue: "pictures", late: true })).toEqual([]);
  expect(await ask("checkExpired", { queue: "pictures" })).toEqual([]);
  expect(await ask("samples", { queue: "pictures", state: "open" })).toMatchObject([{ key: "two" }, { key: "one" }]);
  expect(await ask("sample", { queue: "pictures", key: "one" })).toMatchObject({
    labels: [{}, {}],
    assignments: [{}, {}, {}, {}],
  });
  expect(await ask("closeSample", { id: two!.id, actor: "lea" })).toMatchObject({ state: "closed" });
  expect(await ask("queueMetrics", { queue: "pictures" })).toMatchObject({ total: 4 });
  expect(await ask("queueMetrics", { queue: "pictures", by: "labeler", labeler: "ben" })).toMatchObject([
    { labeler: "ben" },
  ]);
  expect(await ask("queueMetrics", { queue: "pictures", by: "hour", from: "2020-01-01T00:00:00Z" })).toMatchObject([
    { total: 4 },
  ]);
});

test.each([
  ["queueMetrics", { queue: "pictures", by: "day" }, "option_invalid"],
  ["queueMetrics", { queue: "pictures", from: "soon" }, "option_invalid"],
  ["next", { queue: "pictures" }, "option_invalid"],
  ["next", { queue: "nowhere", labeler: "ada" }, "queue_unknown"],
  ["submitLabel", { id: "x", labeler: "ada" }, "option_invalid"],
  ["sample", { queue: "pictures", key: "none" }, "sample_unknown"],
  ["reopenSample", { id: "01b8dd58-e200-7000-8000-000000000000", actor: "lea" }, "sample_unknown"],
  ["acceptLabel", { id: "01b8dd58-e200-7000-8000-000000000000", actor: "lea" }, "label_unknown"],
  ["addSamples", { queue: "pictures", samples: "none" }, "option_invalid"],
])("%s with %j is refused with %s", async (verb, args, code) => {
  await expect(ask(verb as RouteName, args)).rejects.toMatchObject({ code });
});
