import { expect, test } from "vitest";
import { countdown, lasting, midnight } from "../../desk/times.ts";
import { partsOf } from "./content.ts";

const kindsOf = (data: unknown) => partsOf(data).map(({ kind }) => kind);

test("a sample is shown by the shape of its data", () => {
  const text = "A long text. ".repeat(10);
  expect(partsOf("Hello\nworld")).toEqual([{ name: null, kind: "text", value: "Hello\nworld" }]);
  expect(
    partsOf({ essay_text: text, city: "Paris", words: 12, paid: false, left: null, meta: { a: 1 }, list: ["x", "y"] }),
  ).toEqual([
    { name: "Essay text", kind: "text", value: text },
    { name: "List", kind: "text", value: "• x\n• y" },
    { name: "City", kind: "fact", value: "Paris" },
    { name: "Words", kind: "fact", value: "12" },
    { name: "Paid", kind: "fact", value: "No" },
    { name: "Meta", kind: "json", value: { a: 1 } },
  ]);
  expect(kindsOf([1, 2])).toEqual(["json"]);
  expect(kindsOf(null)).toEqual(["json"]);
});

test("what is asked about comes first, then what is to be read, then what is small or wants to be opened", () => {
  const parts = partsOf({
    meta: {},
    city: "Paris",
    answer: "Long. ".repeat(20),
    photo: "https://a.b/c",
    question: "Why?",
  });
  expect(parts.map(({ name }) => name)).toEqual(["Question", "Answer", "Photo", "City", "Meta"]);
});

test("texts that are compared are shown alike, however long each of them is", () => {
  const long = "A long text. ".repeat(10);
  const pairs: [string, string][] = [
    ["answer_a", "answer_b"],
    ["A", "B"],
    ["response 1", "response 2"],
    ["reference", "candidate"],
  ];
  for (const [a, b] of pairs) {
    for (const data of [
      { [a]: "Yes", [b]: long },
      { [a]: long, [b]: "Yes" },
      { [a]: "Yes", [b]: "No" },
    ]) {
      const shown = partsOf({ question: "Why?", ...data, city: "Paris" });
      expect(shown.map(({ kind }) => kind)).toEqual(["text", "text", "text", "fact"]);
      expect(shown.slice(1, 3).map((part) => "value" in part && part.value)).toEqual([data[a], data[b]]);
    }
  }
  expect(partsOf({ version_1: "x", city: "Paris" }).map(({ kind }) => kind)).toEqual(["fact", "fact"]);
});

test("a short posting is a text to be read, its author a fact", () => {
  expect(partsOf({ author: "ada", text: "Nice." })).toEqual([
    { name: "Text", kind: "text", value: "Nice." },
    { name: "Author", kind: "fact", value: "ada" },
  ]);
});

test("media are known by their address, or by the name of their field", () => {
  expect(
    kindsOf({
      a: "https://example.com/cat.PNG?size=2",
      b: "https://example.com/call.mp3",
      c: "https://example.com/way.webm#t=1",
      photo: "https://cdn.example.com/8f3a",
      recording_url: "https://cdn.example.com/8f3b",
      d: "data:image/png;base64,AAAA",
      e: "data:audio/wav;base64,AAAA",
      page: "https://example.com/",
    }),
  ).toEqual(["image", "image", "image", "video", "audio", "audio", "audio", "link"]);
  expect(partsOf({ photos: ["https://a.b/1", "https://a.b/2"] })).toMatchObject([
    { name: "Photos 1", kind: "image" },
    { name: "Photos 2", kind: "image" },
  ]);
});

test("what would not be safe to load or to follow is text or a link", () => {
  expect(kindsOf({ image: "http://example.com/cat.png" })).toEqual(["link"]);
  const strange = [
    "javascript:alert(1)",
    "data:text/html,<script>1</script>",
    "file:///etc/passwd",
    "https://a b/c.png",
  ];
  for (const image of strange) expect(kindsOf({ image })).toEqual(["fact"]);
});

test("a list of who said what is a conversation", () => {
  expect(
    partsOf({
      chat: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello" },
      ],
    }),
  ).toEqual([
    {
      name: "Chat",
      kind: "talk",
      turns: [
        { who: "User", text: "Hi" },
        { who: "Assistant", text: "Hello" },
      ],
    },
  ]);
  expect(kindsOf({ chat: [{ role: "user", content: "Hi" }, { role: "user" }] })).toEqual(["json"]);
});

test("times are told as people tell them", () => {
  expect([0.4, 14, 89, 90, 3_600, 5_400, 7_260].map(lasting)).toEqual([
    "0 s",
    "14 s",
    "89 s",
    "2 min",
    "60 min",
    "1 h 30 min",
    "2 h 1 min",
  ]);
  expect([0, -5, 999, 65_000, 3_600_000].map(countdown)).toEqual(["0:00", "0:00", "0:01", "1:05", "1:00:00"]);
  expect(midnight(new Date(2026, 4, 3, 17, 30))).toEqual(new Date(2026, 4, 3));
});
