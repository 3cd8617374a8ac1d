import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { consensusOf } from "./consensus.ts";
import { accuracyOnGold } from "./gold.ts";
import type { Answer } from "./label-shape.ts";

const categorical: Answer = { kind: "categorical" };

describe("the consensus of labels", () => {
  test("is the most frequent one", () => {
    expect(consensusOf(["cat", "dog", "cat"])).toMatchObject({ label: "cat", tie: false, agreement: 1 / 3 });
    expect(
      consensusOf(
        [
          { b: 1, a: [] },
          { a: [], b: 1 },
        ],
        categorical,
      ),
    ).toMatchObject({ tie: false, agreement: 1 });
  });

  test("says a tie openly and leaves the choice to the caller", () => {
    const { label, tie, fields } = consensusOf(["cat", "dog"]);
    expect([label, tie, fields[""]!.candidates]).toEqual([undefined, true, ["cat", "dog"]]);
    expect(consensusOf(["a", "b", "b", "a", "c"]).fields[""]!.candidates).toEqual(["a", "b"]);
  });

  test("of one label is that label, and of none there is none", () => {
    expect(consensusOf(["cat"])).toMatchObject({ label: "cat", tie: false, agreement: null });
    expect(consensusOf([])).toMatchObject({ label: undefined, tie: false, agreement: null });
  });

  test("goes field by field", () => {
    const labels = [
      { animal: "cat", sure: 4, tags: ["indoor", "old"] },
      { animal: "cat", sure: 2, tags: ["old"] },
      { animal: "dog", sure: 3, tags: ["indoor", "wet"] },
    ];
    const found = consensusOf(labels);
    expect(found.label).toEqual({ animal: "cat", sure: 3, tags: ["indoor", "old"] });
    expect(found.fields.animal).toMatchObject({ value: "cat", votes: 3, agreement: 1 / 3 });
  });

  test("of numbers is the median or, when asked, the mean", () => {
    expect(consensusOf([1, 2, 100]).label).toBe(2);
    expect(consensusOf([6, 7]).label).toBe(6.5);
    expect(consensusOf([1, 2, 6], { kind: "numeric", by: "mean" }).label).toBe(3);
  });

  test("of whole numbers stays whole: between two neighbours it is a tie", () => {
    const found = consensusOf([6, 7], { kind: "numeric", integer: true });
    expect([found.label, found.tie, found.fields[""]!.candidates]).toEqual([undefined, true, [6, 7]]);
    expect(consensusOf([6, 8], { kind: "numeric", integer: true }).label).toBe(7);
    expect(consensusOf([6, 7], { kind: "numeric", integer: true, by: "mean" }).fields[""]!.candidates).toEqual([6, 7]);
  });

  test("counts numbers as agreed as they are near, where the range is known", () => {
    expect(consensusOf([6, 7], { kind: "numeric", range: [0, 10] }).agreement).toBeCloseTo(0.9, 12);
    expect(consensusOf([6, 7]).agreement).toBe(0);
  });

  test("of several choices is what more than half chose; by just half it is a tie", () => {
    expect(consensusOf([["a", "b"], ["b", "c"], ["b"]]).label).toEqual(["b"]);
    const found = consensusOf([["a"], ["a", "b"]]);
    expect([found.tie, found.fields[""]!.candidates]).toEqual([true, [["a"], ["a", "b"]]]);
    expect(consensusOf([["a", "a"], [], []]).label).toEqual([]);
  });

  test("of texts does not mind blanks", () => {
    const text: Answer = { kind: "text" };
    expect(consensusOf(["Elm  Street 3", " Elm Street 3", "Oak 5"], text).label).toBe("Elm  Street 3");
    expect(consensusOf(["one", "other"], text).tie).toBe(true);
  });

  test("is not held up by remarks that nobody had to make", () => {
    const fields = { animal: categorical, note: { kind: "text", optional: true } } as const;
    const shape = { kind: "fields", fields } as const;
    const labels = [
      { animal: "cat", note: "blurred" },
      { animal: "cat", note: "dark" },
    ];
    expect(consensusOf<Json>(labels, shape)).toMatchObject({ label: { animal: "cat" }, tie: false });
    expect(consensusOf<Json>([{ animal: "cat" }, { animal: "cat", note: "dark" }], shape).label).toEqual({
      animal: "cat",
    });
  });

  test("leaves out what more than half left out; when just half did, it is a tie", () => {
    const shape = { kind: "fields", fields: { defect: { kind: "categorical", optional: true } } } as const;
    expect(consensusOf<Json>([{}, {}, { defect: "scratch" }], shape)).toMatchObject({ label: {}, tie: false });
    expect(consensusOf<Json>([{}, { defect: "scratch" }], shape).tie).toBe(true);
    expect(consensusOf<Json>([{}, { defect: "dent" }, { defect: "dent" }], shape).label).toEqual({ defect: "dent" });
  });

  test("takes null for a choice among choices, and for silence where a number or a text is asked", () => {
    const fields = { kind: { kind: "categorical" }, size: { kind: "numeric", optional: true } } as const;
    const labels = [
      { kind: null, size: null },
      { kind: null, size: 4 },
      { kind: "a", size: 6 },
    ];
    expect(consensusOf<Json>(labels, { kind: "fields", fields }).label).toEqual({ kind: null, size: 5 });
  });

  test("does not depend on the order of the labels, nor on what they are called", () => {
    const animals = fc.array(fc.constantFrom("cat", "dog", "cow"), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(animals, (labels) => {
        const found = consensusOf(labels);
        const turned = consensusOf(labels.toReversed());
        expect([turned.label, turned.tie, turned.agreement]).toEqual([found.label, found.tie, found.agreement]);
        const renamed = consensusOf(labels.map((label) => `x${label}`));
        expect(renamed.label).toBe(found.label === undefined ? undefined : `x${found.label}`);
        if (found.agreement !== null) expect(found.agreement).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("takes whatever labels there are", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 5 }), (labels) => {
        const { agreement, tie } = consensusOf(labels as Json[]);
        expect(agreement === null || (agreement >= 0 && agreement <= 1)).toBe(true);
        expect(typeof tie).toBe("boolean");
      }),
    );
  });
});

describe("accuracy on gold", () => {
  const gold = new Map<string, Json>([
    ["s1", { animal: "cat", score: 5 }],
    ["s2", { animal: "dog" }],
  ]);
  const shape = {
    kind: "fields",
    fields: { animal: categorical, score: { kind: "numeric", tolerance: 1 } },
  } as const;

  test("counts each labeler's right labels, the least accurate first", () => {
    const labels = [
      { sample: "s1", labeler: "ada", label: { animal: "cat", score: 4 } },
      { sample: "s2", labeler: "ada", label: { animal: "dog", score: 0 } },
      { sample: "s1", labeler: "bob", label: { animal: "cat", score: 3 } },
      { sample: "s2", labeler: "bob", label: { animal: "dog", score: 9 } },
      { sample: "s3", labeler: "bob", label: { animal: "cow", score: 9 } },
      { sample: "s1", labeler: "eve", label: { score: 5 } },
    ];
    const found = accuracyOnGold(labels, gold, shape);
    expect(found.map(({ labeler, labels, right, accuracy }) => [labeler, labels, right, accuracy])).toEqual([
      ["eve", 1, 0, 0],
      ["bob", 2, 1, 0.5],
      ["ada", 2, 2, 1],
    ]);
    for (const { accuracy, interval } of found) {
      expect(interval[0]).toBeLessThanOrEqual(accuracy);
      expect(interval[1]).toBeGreaterThanOrEqual(accuracy);
    }
  });

  test("is not there for one who saw no gold", () => {
    expect(accuracyOnGold([{ sample: "s9", labeler: "ada", label: 1 }], gold)).toEqual([]);
  });
});
