import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { agreementByLabeler, agreementOf } from "./agreement.ts";
import { krippendorffAlpha, type Scale } from "./alpha.ts";
import { consensusOf } from "./consensus.ts";
import { dawidSkene } from "./dawid-skene.ts";
import { cohensKappa, fleissKappa, type KappaWeights } from "./kappa.ts";
import type { GivenLabel } from "./label-columns.ts";

const scales: readonly Scale[] = ["nominal", "ordinal", "interval"];
const everyWeight: readonly KappaWeights[] = ["none", "linear", "quadratic"];

/** Two to five labelers, some samples, labels from 0 to 4 with gaps. */
const someLabels = fc
  .record({
    labelers: fc.integer({ min: 2, max: 5 }),
    rows: fc.array(fc.array(fc.option(fc.integer({ min: 0, max: 4 })), { minLength: 5, maxLength: 5 }), {
      maxLength: 12,
    }),
  })
  .map(({ labelers, rows }) =>
    rows.flatMap((row, sample) =>
      row.slice(0, labelers).flatMap((label, labeler): GivenLabel[] => {
        return label === null ? [] : [{ sample: `s${sample}`, labeler: `l${labeler}`, label }];
      }),
    ),
  );

function same(one: number | null, other: number | null): void {
  if (one === null || other === null) expect([one, other]).toEqual([null, null]);
  else expect(one).toBeCloseTo(other, 9);
}

const shuffled = (labels: readonly GivenLabel[]) =>
  fc.shuffledSubarray([...labels], { minLength: labels.length, maxLength: labels.length });

describe("every measure", () => {
  test("is at most 1, kappa at least -1, and none is NaN", () => {
    fc.assert(
      fc.property(someLabels, (labels) => {
        for (const scale of scales) {
          const alpha = krippendorffAlpha(labels, scale);
          if (alpha !== null) expect(alpha).toBeLessThanOrEqual(1 + 1e-12);
          expect(alpha).not.toBeNaN();
        }
        for (const weights of everyWeight) {
          const kappa = cohensKappa(labels, "l0", "l1", { weights });
          if (kappa !== null) expect(Math.abs(kappa)).toBeLessThanOrEqual(1 + 1e-12);
          expect(kappa).not.toBeNaN();
        }
        const fleiss = fleissKappa(labels);
        if (fleiss !== null) expect(Math.abs(fleiss)).toBeLessThanOrEqual(1 + 1e-12);
        expect(fleiss).not.toBeNaN();
      }),
    );
  });

  test("does not depend on the order of labels, nor on who is who", () => {
    fc.assert(
      fc.property(
        someLabels.chain((labels) => fc.tuple(fc.constant(labels), shuffled(labels))),
        ([labels, other]) => {
          const renamed = other.map((given) => ({
            ...given,
            labeler: `x${given.labeler}`,
            sample: `x${given.sample}`,
          }));
          for (const scale of scales) same(krippendorffAlpha(labels, scale), krippendorffAlpha(renamed, scale));
          same(fleissKappa(labels), fleissKappa(renamed));
          for (const weights of everyWeight) {
            const kappa = cohensKappa(labels, "l0", "l1", { weights });
            same(kappa, cohensKappa(renamed, "xl1", "xl0", { weights })); // Nor on their order.
          }
        },
      ),
    );
  });

  test("on the nominal scale does not depend on what the labels are called", () => {
    const names: readonly Json[] = ["one", { a: 1 }, [2], null, true];
    fc.assert(
      fc.property(someLabels, (labels) => {
        const renamed = labels.map((given) => ({ ...given, label: names[given.label as number]! }));
        same(krippendorffAlpha(labels), krippendorffAlpha(renamed));
        same(fleissKappa(labels), fleissKappa(renamed));
        same(cohensKappa(labels, "l0", "l1"), cohensKappa(renamed, "l0", "l1"));
        const [one, other] = [dawidSkene(labels), dawidSkene(renamed)];
        for (const [sample, { probability }] of one.samples) same(probability, other.samples.get(sample)!.probability);
      }),
    );
  });

  test("on the interval scale does not depend on unit and zero, on the ordinal one not on any stretching", () => {
    fc.assert(
      fc.property(someLabels, (labels) => {
        const shifted = labels.map((given) => ({ ...given, label: 1e6 + (given.label as number) / 8 }));
        same(krippendorffAlpha(labels, "interval"), krippendorffAlpha(shifted, "interval"));
        const stretched = labels.map((given) => ({ ...given, label: 10 ** (given.label as number) }));
        same(krippendorffAlpha(labels, "ordinal"), krippendorffAlpha(stretched, "ordinal"));
        const words = labels.map((given) => ({ ...given, label: "abcde"[given.label as number]! }));
        same(krippendorffAlpha(labels, "ordinal"), krippendorffAlpha(words, "ordinal", "abcde".split("")));
      }),
    );
  });

  test("is 1 where all agree, on every scale", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 2, maxLength: 20 }), (truths) => {
        fc.pre(new Set(truths).size > 1);
        const labels = truths.flatMap((label, sample) =>
          ["l0", "l1", "l2"].map((labeler) => ({ sample: `${sample}`, labeler, label })),
        );
        for (const scale of scales) expect(krippendorffAlpha(labels, scale)).toBeCloseTo(1, 12);
        for (const weights of everyWeight) expect(cohensKappa(labels, "l0", "l1", { weights })).toBeCloseTo(1, 12);
        expect(fleissKappa(labels)).toBeCloseTo(1, 12);
      }),
    );
  });

  const alone: GivenLabel[] = [
    { sample: "s1", labeler: "ada", label: 1 },
    { sample: "s2", labeler: "bob", label: 2 },
  ];
  const alike: GivenLabel[] = ["ada", "bob", "eve"].flatMap((labeler) => [
    { sample: "s1", labeler, label: 0.1 },
    { sample: "s2", labeler, label: 0.1 },
  ]);

  test.each<[string, GivenLabel[]]>([
    ["there are no labels", []],
    ["no sample has two labels", alone],
    ["there is only one label in all", alike],
    ["there is only one label in all that can be paired", [...alike, { sample: "s3", labeler: "ada", label: 7 }]],
  ])("is null where %s", (_when, labels) => {
    for (const scale of scales) expect(krippendorffAlpha(labels, scale)).toBeNull();
    for (const weights of everyWeight) expect(cohensKappa(labels, "ada", "bob", { weights })).toBeNull();
    expect(fleissKappa(labels)).toBeNull();
  });

  test("refuses labels that a scale cannot hold, and says what to do", () => {
    const words = alone.map((given) => ({ ...given, label: "good" }));
    expect(() => krippendorffAlpha(words, "interval")).toThrow(/"good" is not a number.*nominal/);
    expect(() => krippendorffAlpha(words, "ordinal", ["bad"])).toThrow(/"good" is not in the given order/);
    const pair = ["ada", "bob"].map((labeler) => ({ sample: "s1", labeler, label: "good" }));
    expect(() => cohensKappa(pair, "ada", "bob", { weights: "linear" })).toThrow(/"good" is not a number.*`order`/);
    expect(() => cohensKappa(pair, "ada", "bob", { weights: "linear", order: ["bad"] })).toThrow(
      /not in the given order/,
    );
  });
});

describe("Dawid-Skene", () => {
  test("says what the majority says when labelers make no mistakes", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 30 }), (truths) => {
        const labels = truths.flatMap((label, sample) =>
          ["l0", "l1", "l2"].map((labeler) => ({ sample: `${sample}`, labeler, label })),
        );
        const { samples } = dawidSkene(labels);
        truths.forEach((truth, sample) => {
          expect(samples.get(`${sample}`)!.label).toBe(truth);
          expect(consensusOf([truth, truth, truth], { kind: "categorical" }).label).toBe(truth);
        });
      }),
    );
  });

  test("does not depend on the order of labels", () => {
    fc.assert(
      fc.property(
        someLabels.chain((labels) => fc.tuple(fc.constant(labels), shuffled(labels))),
        ([labels, other]) => {
          expect(dawidSkene(other)).toEqual(dawidSkene(labels));
        },
      ),
    );
  });

  test("gives probabilities that add up to 1, however little there is to go by", () => {
    fc.assert(
      fc.property(someLabels, fc.constantFrom(0, 0.01, 4), (labels, trust) => {
        const { samples, labelers, priors, rounds } = dawidSkene(labels, { trust });
        const sum = (numbers: Float64Array) => numbers.reduce((one, other) => one + other, 0);
        for (const { probabilities } of samples.values()) expect(sum(probabilities)).toBeCloseTo(1, 9);
        for (const { confusion } of labelers.values()) for (const row of confusion) expect(sum(row)).toBeCloseTo(1, 9);
        if (labels.length > 0) expect(sum(priors)).toBeCloseTo(1, 9);
        expect(rounds).toBeLessThanOrEqual(100);
      }),
    );
  });

  test("hears one who is careful against two who guess, where a majority would not", () => {
    // Ada is right; Bob and Eve err on different samples, and together only on s9.
    const truth = "abcabcabcabc".split("");
    const labels = truth.flatMap((label, sample): GivenLabel[] => {
      const wrong = label === "a" ? "b" : "a";
      const given = (labeler: string, value: string) => ({ sample: `s${sample}`, labeler, label: value });
      const bob = sample % 2 === 0 || sample === 9 ? wrong : label;
      const eve = sample % 3 === 0 || sample === 9 ? wrong : label;
      return [given("ada", label), given("cyd", label), given("bob", bob), given("eve", eve)];
    });
    const { samples, labelers } = dawidSkene(
      labels.filter(({ sample, labeler }) => sample !== "s9" || labeler !== "cyd"),
    );
    expect([...samples.values()].map(({ label }) => label)).toEqual(truth);
    expect(labelers.get("ada")!.accuracy).toBeGreaterThan(labelers.get("bob")!.accuracy);
  });

  test("finds more than a majority does, also where each labeler gave ten labels only", () => {
    let [found, foundWithoutTrust, byMajority] = [0, 0, 0];
    for (let seed = 1; seed <= 5; seed++) {
      const { truth, labels } = crowd(seed);
      const [trusting, plain] = [dawidSkene(labels), dawidSkene(labels, { trust: 0 })];
      truth.forEach((label, sample) => {
        if (trusting.samples.get(`s${sample}`)!.label === label) found++;
        if (plain.samples.get(`s${sample}`)!.label === label) foundWithoutTrust++;
        const votes = labels.filter((given) => given.sample === `s${sample}`).map((given) => given.label);
        if (consensusOf(votes, { kind: "categorical" }).label === label) byMajority++;
      });
    }
    expect(found).toBeGreaterThan(byMajority);
    expect(found).toBeGreaterThan(foundWithoutTrust);
  });

  /** Fifty labelers, a quarter of whom guess; each of 166 samples is seen by three. */
  function crowd(seed: number): { truth: number[]; labels: GivenLabel[] } {
    const random = randomFrom(seed);
    const below = (most: number) => Math.floor(random() * most);
    const diligence = Array.from({ length: 50 }, () => (random() < 0.25 ? 1 / 3 : 0.6 + 0.38 * random()));
    const truth = Array.from({ length: 166 }, () => below(3));
    const labels = truth.flatMap((label, sample) => {
      const first = below(50);
      return [first, (first + 1 + below(24)) % 50, (first + 25 + below(24)) % 50].map((labeler) => {
        const isRight = random() < diligence[labeler]!;
        return { sample: `s${sample}`, labeler: `l${labeler}`, label: isRight ? label : (label + 1 + below(2)) % 3 };
      });
    });
    return { truth, labels };
  }

  /** The same numbers for the same seed, from 0 to 1. */
  function randomFrom(seed: number): () => number {
    let state = seed * 2_654_435_761;
    return () => {
      state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
      return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
    };
  }

  test("says openly when two classes are equally probable", () => {
    const labels = ["ada", "bob"].map((labeler) => ({
      sample: "s1",
      labeler,
      label: labeler === "ada" ? "cat" : "dog",
    }));
    expect(dawidSkene(labels).samples.get("s1")).toMatchObject({ label: undefined, tie: true, probability: 0.5 });
  });

  test("takes no labels, and refuses what is no choice between classes", () => {
    expect(dawidSkene([])).toMatchObject({ classes: [], rounds: 0, settled: true });
    const texts = Array.from({ length: 10_000 }, (_, n) => ({ sample: `s${n}`, labeler: "ada", label: `text ${n}` }));
    expect(() => dawidSkene(texts)).toThrow(/10000 different labels is too large.*pick one field/);
  });
});

test("a million labels are measured in linear time", () => {
  const labels: GivenLabel[] = Array.from({ length: 1_000_000 }, (_, n) => {
    const sample = Math.floor(n / 4);
    return { sample: `s${sample}`, labeler: `l${n % 4}`, label: (sample * 7 + (n % 11 === 0 ? 1 : 0)) % 5 };
  });
  const timed = (count: number, measure: (labels: GivenLabel[]) => unknown) => {
    const some = labels.slice(0, count);
    const start = process.cpuUsage().user;
    measure(some);
    return (process.cpuUsage().user - start) / count; // Microseconds of this process for each label.
  };
  const measures = [
    (some: GivenLabel[]) => krippendorffAlpha(some, "ordinal"),
    (some: GivenLabel[]) => fleissKappa(some),
    (some: GivenLabel[]) => cohensKappa(some, "l0", "l1", { weights: "linear" }),
  ];
  for (const measure of measures) {
    const few = timed(100_000, measure);
    expect(timed(1_000_000, measure)).toBeLessThan(8 * few + 2); // Pairs of samples would make it tenfold.
  }
});

describe("agreement by field", () => {
  const labels: GivenLabel[] = [
    { sample: "s1", labeler: "ada", label: { animal: "cat", score: 4, tags: ["a", "b"], note: "a cat" } },
    { sample: "s1", labeler: "bob", label: { animal: "cat", score: 5, tags: ["b", "a"], note: " a  cat " } },
    { sample: "s2", labeler: "ada", label: { animal: "dog", score: 1, tags: ["a"] } },
    { sample: "s2", labeler: "bob", label: { animal: "dog", score: 2, tags: ["b"] } },
    { sample: "s3", labeler: "ada", label: { animal: "dog", score: 3, tags: ["c"], note: "hm" } },
    { sample: "s3", labeler: "eve", label: { animal: "cat", score: 3, tags: ["d"], note: "what" } },
    { sample: "s4", labeler: "eve", label: { animal: "cow", score: 5, tags: [] } },
  ];
  const shape = {
    kind: "fields",
    fields: {
      animal: { kind: "categorical" },
      score: { kind: "numeric", range: [0, 5] },
      tags: { kind: "multiple" },
      note: { kind: "text", optional: true },
    },
  } as const;

  test("reads each field in its own way, and sums up", () => {
    const found = agreementOf(labels, shape);
    expect(found.fields.animal).toMatchObject({ scale: "nominal", labels: 7, samples: 3, agreement: 2 / 3 });
    expect(found.fields.score).toMatchObject({ scale: "interval", agreement: (0.8 + 0.8 + 1) / 3 });
    expect(found.fields.score!.alpha).toBeGreaterThan(0.8);
    expect(found.fields.tags).toMatchObject({ scale: "sets", agreement: 1 / 3 });
    expect(found.fields.note).toMatchObject({ scale: "nominal", labels: 4, samples: 2, agreement: 0.5 });
    expect(found.agreement).toBeCloseTo((2 / 3 + 2.6 / 3 + 1 / 3) / 3, 12);
    expect(found.weakest).toBe("tags");
  });

  test("counts what says nothing, or nothing that is on the scale, as missing", () => {
    const size = { kind: "numeric", optional: true } as const;
    const grade = { kind: "categorical", order: ["poor", "good"] } as const;
    const given = (labeler: string, sizes: Json[]) =>
      sizes.map((value, sample) => ({ sample: `s${sample}`, labeler, label: { size: value, grade: value } }));
    const numbers = [...given("ada", [1, 5, null, "big"]), ...given("bob", [1, 5, 7, 8])];
    expect(agreementOf(numbers, { kind: "fields", fields: { size } })).toMatchObject({
      alpha: 1,
      fields: { size: { labels: 7 } },
    });
    const words = [...given("ada", ["poor", "good", "odd"]), ...given("bob", ["poor", "good", "good"])];
    expect(agreementOf(words, { kind: "fields", fields: { grade } }).alpha).toBe(1);
    expect(agreementOf(words, grade).alpha).toBeNull();
  });

  test("of sets adds up the yes and no of each choice", () => {
    // With one choice only, a set is a yes or a no: the nominal alpha of the same.
    const yesNo = ["0100000010", "1110010000"].flatMap((row, labeler) =>
      row.split("").map((label, sample) => ({
        sample: `s${sample}`,
        labeler: `l${labeler}`,
        label: label === "1" ? ["x"] : [],
      })),
    );
    expect(agreementOf(yesNo, { kind: "multiple" }).alpha).toBeCloseTo(0.095, 3);
  });

  test("by labeler finds who agrees least with the others", () => {
    expect(agreementByLabeler(labels, shape).map(({ labeler, labels }) => [labeler, labels])).toEqual([
      ["eve", 2],
      ["ada", 3],
      ["bob", 2],
    ]);
    expect(agreementByLabeler([labels[6]!])).toEqual([{ labeler: "eve", labels: 1, agreement: null }]);
  });

  test("reads labels by their looks where no shape is given", () => {
    const found = agreementOf(labels);
    expect(Object.entries(found.fields).map(([name, { kind }]) => [name, kind])).toEqual([
      ["animal", "categorical"],
      ["note", "categorical"],
      ["score", "numeric"],
      ["tags", "multiple"],
    ]);
    expect(agreementOf([]).agreement).toBeNull();
  });
});
