import { describe, expect, test } from "vitest";
import { krippendorffAlpha, type Scale } from "./alpha.ts";
import { dawidSkene } from "./dawid-skene.ts";
import { wilsonInterval } from "./gold.ts";
import { cohensKappa, fleissKappa, type KappaWeights } from "./kappa.ts";
import type { GivenLabel } from "./label-columns.ts";

/** One row a labeler, one column a sample, a dot where there is no label. */
function ofRows(...rows: string[]): GivenLabel[] {
  return rows.flatMap((row, labeler) =>
    row
      .split(" ")
      .map((label, sample) => ({ sample: `s${sample}`, labeler: `l${labeler}`, label: Number(label) }))
      .filter(({ label }) => !Number.isNaN(label)),
  );
}

/** One row per sample, one column per label: how many labelers gave it. Their names are not published. */
function ofCounts(...rows: string[]): GivenLabel[] {
  return rows.flatMap((row, sample) =>
    row
      .split(" ")
      .flatMap((count, label) => Array.from({ length: Number(count) }, () => label))
      .map((label, labeler) => ({ sample: `s${sample}`, labeler: `l${labeler}`, label })),
  );
}

/** How often one labeler gave the row's label and the other the column's. */
function ofTable(...rows: string[]): GivenLabel[] {
  const pairs = rows.flatMap((row, one) =>
    row.split(" ").flatMap((count, other) => Array.from({ length: Number(count) }, () => [one, other])),
  );
  return pairs.flatMap(([one, other], sample) => [
    { sample: `s${sample}`, labeler: "one", label: one! },
    { sample: `s${sample}`, labeler: "other", label: other! },
  ]);
}

describe("Krippendorff's alpha", () => {
  const fourCoders = ofRows(
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
  );

  test.each<[Scale, number]>([
    ["nominal", 0.743],
    ["ordinal", 0.815],
    ["interval", 0.849],
  ])("of Krippendorff 2011, Computing Krippendorff's alpha-reliability, example C: %s", (scale, published) => {
    expect(krippendorffAlpha(fourCoders, scale)).toBeCloseTo(published, 3);
  });

  const threeCoders = ofRows(
    ". . . . . 3 4 1 2 1 1 3 3 . 3",
    "1 . 2 1 3 3 4 3 . . . . . . .",
    ". . 2 1 3 4 4 . 2 1 1 3 3 . 4",
  );

  test.each<[Scale, number]>([
    ["nominal", 0.691],
    ["ordinal", 0.807],
    ["interval", 0.811],
  ])("of the three coders in Wikipedia, Krippendorff's alpha: %s", (scale, published) => {
    expect(krippendorffAlpha(threeCoders, scale)).toBeCloseTo(published, 3);
  });

  test("of Krippendorff 2011, example A: two observers, yes or no", () => {
    expect(krippendorffAlpha(ofRows("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"))).toBeCloseTo(0.095, 3);
  });

  test("of Krippendorff 2011, example B: two observers, five categories", () => {
    const observers = ofRows("1 1 2 2 4 3 3 3 5 4 4 1", "2 1 2 2 2 3 3 3 5 4 4 4");
    expect(krippendorffAlpha(observers)).toBeCloseTo(0.692, 3);
  });
});

describe("Cohen's kappa", () => {
  test.each<[string, GivenLabel[], number]>([
    ["Cohen 1960, A coefficient of agreement for nominal scales", ofTable("88 14 18", "10 40 10", "2 6 12"), 0.492],
    ["the fifty proposals in Wikipedia, Cohen's kappa", ofTable("20 5", "10 15"), 0.4],
    ["same percentage, more alike (Wikipedia)", ofTable("45 15", "25 15"), 0.1304],
    ["same percentage, less alike (Wikipedia)", ofTable("25 35", "5 35"), 0.2593],
    [
      "two dermatologists (SAS/STAT, the FREQ procedure)",
      ofTable("10 4 1 0", "5 10 12 2", "2 4 12 5", "0 2 6 13"),
      0.3449,
    ],
  ])("of %s", (_name, labels, published) => {
    expect(cohensKappa(labels, "one", "other")).toBeCloseTo(published, published === 0.492 ? 3 : 4);
  });

  test.each<[string, KappaWeights, GivenLabel[], number]>([
    ["two dermatologists (SAS/STAT)", "linear", ofTable("10 4 1 0", "5 10 12 2", "2 4 12 5", "0 2 6 13"), 0.5082],
    ["married couples (Agresti 1990; R, vcd)", "linear", ofTable("7 7 2 3", "2 8 3 7", "1 5 4 9", "2 8 9 14"), 0.2374],
    [
      "married couples (Agresti 1990; R, vcd)",
      "quadratic",
      ofTable("7 7 2 3", "2 8 3 7", "1 5 4 9", "2 8 9 14"),
      0.332,
    ],
  ])("weighted, of %s, %s", (_name, weights, labels, published) => {
    expect(cohensKappa(labels, "one", "other", { weights })).toBeCloseTo(published, 4);
  });
});

describe("Fleiss' kappa", () => {
  test("of Fleiss 1971, Measuring nominal scale agreement among many raters: psychiatric diagnoses", () => {
    const patients = [
      ...["0 0 0 6 0", "0 3 0 0 3", "0 1 4 0 1", "0 0 0 0 6", "0 3 0 3 0", "2 0 4 0 0", "0 0 4 0 2", "2 0 3 1 0"],
      ...["2 0 0 4 0", "0 0 0 0 6", "1 0 0 5 0", "1 1 0 4 0", "0 3 3 0 0", "1 0 0 5 0", "0 2 0 3 1", "0 0 5 0 1"],
      ...["3 0 0 1 2", "5 1 0 0 0", "0 2 0 4 0", "1 0 2 0 3", "0 0 0 0 6", "0 1 0 5 0", "0 2 0 1 3", "2 0 0 4 0"],
      ...["1 0 0 4 1", "0 5 0 1 0", "4 0 0 0 2", "0 2 0 4 0", "1 0 5 0 0", "0 0 0 0 6"],
    ];
    expect(fleissKappa(ofCounts(...patients))).toBeCloseTo(0.43, 3);
  });

  test("of the fourteen raters in Wikipedia, Fleiss' kappa", () => {
    const subjects = ["0 0 0 0 14", "0 2 6 4 2", "0 0 3 5 6", "0 3 9 2 0", "2 2 8 1 1", "7 7 0 0 0", "3 2 6 3 0"];
    expect(fleissKappa(ofCounts(...subjects, "2 5 3 2 2", "6 5 2 1 0", "0 2 2 3 7"))).toBeCloseTo(0.21, 3);
  });
});

describe("Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm", () => {
  // Table 1: the fitness of 45 patients as seen by five anaesthetists; the first saw each form three times.
  const patients = [
    ...["111 1 1 1 1", "333 4 3 3 4", "112 2 1 2 2", "222 3 1 2 1", "222 3 2 2 2", "222 3 3 2 2", "122 2 1 1 1"],
    ...["333 3 4 3 3", "222 2 2 2 3", "232 2 2 2 3", "444 4 4 4 4", "222 3 3 4 3", "111 1 1 1 1", "222 3 2 1 2"],
    ...["121 1 1 1 1", "111 2 1 1 1", "111 1 1 1 1", "111 1 1 1 1", "222 2 2 2 1", "222 1 3 2 2", "222 2 2 2 2"],
    ...["222 2 2 2 1", "222 3 2 2 2", "221 2 2 2 2", "111 1 1 1 1", "111 1 1 1 1", "232 2 2 2 2", "111 1 1 1 1"],
    ...["111 1 1 1 1", "112 1 1 2 1", "111 1 1 1 1", "333 3 2 3 3", "111 1 1 1 1", "222 2 2 2 2", "222 3 2 3 2"],
    ...["433 4 3 4 3", "221 2 2 3 2", "232 3 2 3 3", "333 3 4 3 2", "111 1 1 1 1", "111 1 1 1 1", "121 2 1 1 1"],
    ...["232 2 2 2 2", "121 1 1 1 1", "222 2 2 2 2"],
  ];
  const labels = patients.flatMap((row, patient) =>
    row
      .split(" ")
      .flatMap((seen, observer) =>
        seen.split("").map((label) => ({ sample: `${patient + 1}`, labeler: `${observer + 1}`, label: Number(label) })),
      ),
  );
  const found = dawidSkene(labels, { classes: [1, 2, 3, 4], trust: 0, tolerance: 1e-9 });
  const rounded = (numbers: Float64Array) => [...numbers].map((number) => Math.round(number * 100) / 100);

  test("finds the classes' frequencies of the paper", () => {
    expect(rounded(found.priors)).toEqual([0.4, 0.42, 0.11, 0.07]);
    expect(found.settled).toBe(true);
    expect(found.logLikelihood).toBeCloseTo(-192.8909, 3);
  });

  test("finds the error rates of the paper", () => {
    expect([...found.labelers.values()].map(({ confusion }) => confusion.map(rounded))).toEqual([
      [
        [0.89, 0.11, 0, 0],
        [0.07, 0.88, 0.05, 0],
        [0, 0.34, 0.66, 0],
        [0, 0, 0.56, 0.44],
      ],
      [
        [0.83, 0.17, 0, 0],
        [0.05, 0.63, 0.31, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
      ],
      [
        [1, 0, 0, 0],
        [0.11, 0.79, 0.11, 0],
        [0, 0.4, 0.2, 0.4],
        [0, 0, 0.67, 0.33],
      ],
      [
        [0.94, 0.06, 0, 0],
        [0.05, 0.84, 0.1, 0],
        [0, 0, 0.8, 0.2],
        [0, 0, 0.33, 0.67],
      ],
      [
        [1, 0, 0, 0],
        [0.16, 0.73, 0.11, 0],
        [0, 0.21, 0.79, 0],
        [0, 0, 0.33, 0.67],
      ],
    ]);
  });

  test("finds the patients' classes of the paper, and where it is less than sure", () => {
    const classes = [...found.samples.values()].map(({ label }) => label).join("");
    expect(classes).toBe("142222132243121111222222112111131224233111212");
    const unsure = [...found.samples].filter(([, { probability }]) => probability < 0.99).map(([patient]) => patient);
    expect(unsure).toEqual(["7", "35", "38"]);
    expect(found.samples.get("7")!.probabilities[0]).toBeCloseTo(0.981, 3);
    expect(found.samples.get("35")!.probabilities[1]).toBeCloseTo(0.948, 3);
    expect(found.samples.get("38")!.probabilities[2]).toBeCloseTo(0.979, 3);
  });
});

describe("Wilson's interval", () => {
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])(
    "of Newcombe 1998, Two-sided confidence intervals for the single proportion: %d of %d",
    (right, tries, low, high) => {
      const interval = wilsonInterval(right, tries);
      expect(interval[0]).toBeCloseTo(low, 4);
      expect(interval[1]).toBeCloseTo(high, 4);
    },
  );

  test("of nothing is anything, and of all right reaches 1", () => {
    expect(wilsonInterval(0, 0)).toEqual([0, 1]);
    expect(wilsonInterval(7, 7)[1]).toBe(1);
  });
});
