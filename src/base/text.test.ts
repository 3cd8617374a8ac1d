import { expect, test } from "vitest";
import { asSentence, checkedText } from "./text.ts";

test("a short text is taken as it is", () => {
  for (const text of ["x", "sub-42", "😀", "x".repeat(500), " ", "a\nb"])
    expect(checkedText(text, "The key")).toBe(text);
});

test("what an index or a row cannot hold is refused, with what it was for", () => {
  for (const given of ["", "x".repeat(501), 5, null, undefined, {}, ["x"], new String("x")]) {
    expect(() => checkedText(given, "The key", "key_invalid")).toThrow(
      "The key must be a text of 1 to 500 characters.",
    );
  }
  for (const given of ["a\u0000", "\ud800", "\udc00x"]) {
    expect(() => checkedText(given, "The key", "key_invalid")).toThrow(/cannot be stored/);
  }
  expect(() => checkedText("", "The actor")).toThrow(expect.objectContaining({ code: "option_invalid" }));
});

test("a sentence has one full stop, whoever wrote its end", () => {
  for (const text of ["it broke", "it broke."]) expect(asSentence(text)).toBe("it broke.");
  expect(asSentence("What is it?")).toBe("What is it?");
});
