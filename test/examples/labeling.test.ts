import type { GivenLabel } from "pawl";
import { expect, test } from "vitest";
import { labelBy, team } from "../../examples/labeling/labelers.ts";
import { messages, pictures } from "../../examples/labeling/queues.ts";
import { loadMessages, loadPictures } from "../../examples/labeling/samples.ts";
import { tableOf } from "../../examples/labeling/table.ts";

test("the samples of the labeling example can be read, and some of them are gold", async () => {
  for (const [examples, count] of [
    [await loadMessages(), 40],
    [await loadPictures(), 18],
  ] as const) {
    expect(examples).toHaveLength(count);
    expect(new Set(examples.map(({ key }) => key)).size).toBe(count);
    expect(examples.filter(({ isGold }) => isGold).length).toBeGreaterThan(5);
  }
});

test("its labelers say the same for the same seed, and the table names the careless ones", async () => {
  for (const [queue, examples] of [
    [messages, await loadMessages()],
    [pictures, await loadPictures()],
  ] as const) {
    const labels: GivenLabel[] = examples.flatMap((example, index) =>
      [0, 1, 2, 3].flatMap((place) => {
        const labeler = team[(index * 4 + place) % team.length]!;
        const done = labelBy(labeler, example, 7);
        expect(labelBy(labeler, example, 7)).toEqual(done);
        return "label" in done ? [{ sample: example.key, labeler: labeler.name, label: done.label }] : [];
      }),
    );
    const careless = tableOf(queue, labels, examples)
      .split("\n")
      .filter((line) => line.endsWith("careless"))
      .map((line) => line.trim().split(" ")[0]);
    expect(careless.sort()).toEqual(["eddy", "finn"]);
  }
});
