import { describe, expect, test } from "vitest";
import { type JobCounts, nextActionOf } from "./progress.ts";

const fresh: JobCounts = {
  wanted: 3,
  approved: 0,
  rejected: 0,
  refused: 0,
  undecided: 0,
  places: 3,
  submitted: 0,
  settled: false,
  gone: false,
  rejectionReopens: false,
  maxPlaces: 9,
  mayProlong: true,
  closing: false,
};

describe("what becomes of a crowd job", () => {
  test.each<[string, Partial<JobCounts>, object]>([
    ["waits while nobody has submitted", {}, { kind: "wait" }],
    ["waits for what is missing", { submitted: 2, approved: 2 }, { kind: "wait" }],
    ["waits for what is undecided", { submitted: 3, approved: 2, undecided: 1, settled: true }, { kind: "wait" }],
    ["R54 is finished when all is there and decided", { submitted: 3, approved: 3, settled: true }, { kind: "finish" }],
    ["R53 has one more place for each rejection", { submitted: 2, rejected: 2 }, { kind: "widen", places: 5 }],
    [
      "R53 also while others are undecided, since those cannot make up for it",
      { submitted: 3, rejected: 1, undecided: 2, settled: true },
      { kind: "widen", places: 4 },
    ],
    ["R53 needs none where places were to spare", { places: 5, submitted: 2, rejected: 2 }, { kind: "wait" }],
    [
      "needs none where the marketplace opens the place again",
      { submitted: 2, rejected: 2, rejectionReopens: true },
      { kind: "wait" },
    ],
    [
      "has one more place for what was paid though it was refused, also where rejected places open again",
      { submitted: 3, approved: 2, refused: 1, rejectionReopens: true },
      { kind: "widen", places: 4 },
    ],
    [
      "is finished with one rejected and places to spare",
      { places: 4, submitted: 4, approved: 3, rejected: 1, settled: true },
      { kind: "finish" },
    ],
    [
      "falls short where its posting was deleted, and asks for nothing more",
      { gone: true, settled: true, submitted: 2, approved: 1, rejected: 1 },
      { kind: "fall_short", reason: expect.stringContaining("gone") },
    ],
    [
      "falls short where no more places may be had",
      { places: 9, submitted: 9, approved: 2, rejected: 7, settled: true },
      { kind: "fall_short", reason: expect.stringContaining("2 of 3") },
    ],
    [
      "waits for the rest before it falls short",
      { places: 9, submitted: 8, approved: 1, rejected: 7 },
      { kind: "wait" },
    ],
    [
      "has more time when that is up with places left",
      { submitted: 1, approved: 1, settled: true },
      { kind: "prolong" },
    ],
    [
      "also where rejected ones gave their places back, however many they were",
      { submitted: 4, approved: 1, rejected: 3, settled: true, rejectionReopens: true },
      { kind: "prolong" },
    ],
    [
      "or falls short when it had that often enough",
      { submitted: 1, approved: 1, settled: true, mayProlong: false },
      { kind: "fall_short", reason: expect.stringContaining("time has expired") },
    ],
    [
      "is finished when time is up and all that is wanted is there",
      { places: 4, submitted: 3, approved: 3, settled: true },
      { kind: "finish" },
    ],
    ["asks for nothing more while it is closed", { closing: true, submitted: 2, rejected: 2 }, { kind: "wait" }],
    ["and ends when the last who had begun is decided", { closing: true, settled: true }, { kind: "close" }],
    ["but not before", { closing: true, settled: true, undecided: 1 }, { kind: "wait" }],
  ])("%s", (_, standing, progress) => {
    expect(nextActionOf({ ...fresh, ...standing })).toEqual(progress);
  });
});
