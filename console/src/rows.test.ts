import { describe, expect, test } from "vitest";
import { commandOf, compare, csv, curlOf } from "./rows.ts";

describe("a list as a file", () => {
  test("keeps commas, quotes and lines apart, and formulas from being run", () => {
    expect(
      csv(
        ["id", "note"],
        [
          ["1", 'a, "b"'],
          [-2, "=HYPERLINK(1)"],
          [null, "two\nlines"],
        ],
      ),
    ).toBe(`id,note\r\n1,"a, ""b"""\r\n-2,'=HYPERLINK(1)\r\n,"two\nlines"`);
  });
});

describe("the order of a column", () => {
  test("is by size for numbers, by number within texts, and ends with what is missing", () => {
    const sorted = (cells: (string | number | null)[], descending = false) =>
      cells.toSorted((one, other) => compare(one, other, descending));
    expect(sorted([10, 9, null, 100])).toEqual([9, 10, 100, null]);
    expect(sorted(["sub-10", "sub-9", null], true)).toEqual(["sub-10", "sub-9", null]);
  });
});

describe("the same for a terminal", () => {
  test("is quoted where a shell would read it otherwise", () => {
    expect(curlOf("https://it/api/x?state=a&limit=5")).toBe(
      `curl -H "Authorization: Bearer $PAWL_TOKEN" 'https://it/api/x?state=a&limit=5'`,
    );
    expect(commandOf(["instance", "list", "essay"], { state: ["a", "b"], key: "it's", limit: undefined })).toBe(
      `pawl instance list essay --state a --state b --key 'it'\\''s'`,
    );
  });
});
