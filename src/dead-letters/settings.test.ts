import { expect, test } from "vitest";
import { folderArchive } from "./folder-archive.ts";
import { letterSettings } from "./settings.ts";

test("R71 unless told otherwise letters are kept for seven days, ten thousand of them, and a hundred a day are borne", () => {
  expect(letterSettings()).toMatchObject({
    retentionMs: 7 * 86_400_000,
    maxRetained: 10_000,
    alertOver: 100,
    queues: [],
  });
  expect(letterSettings({ retention: null, maxRetained: null, alertOver: null })).toMatchObject({
    retentionMs: null,
    maxRetained: null,
    alertOver: null,
  });
});

test.each([
  [[]],
  [{ retention: "soon" }],
  [{ maxRetained: -1 }],
  [{ maxRetained: 1.5 }],
  [{ alertOver: "many" }],
  [{ archive: {} }],
  [{ archive: "/tmp" }],
  [{ queues: ["grading.dlq"] }],
  [{ onTicket: true }],
  [{ kept: "7d" }],
])("%j is refused", (given) =>
  expect(() => letterSettings(given as never)).toThrow(expect.objectContaining({ code: "option_invalid" })),
);

test("a folder is a path, and a file of it is in it", async () => {
  expect(() => folderArchive("")).toThrow(expect.objectContaining({ code: "option_invalid" }));
  await expect(folderArchive("/nowhere/archive").read("../../etc/passwd")).rejects.toMatchObject({
    code: "option_invalid",
  });
  expect(await folderArchive("/nowhere/archive").list()).toEqual([]);
});
