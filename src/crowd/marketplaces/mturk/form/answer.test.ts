import fc from "fast-check";
import { expect, test } from "vitest";
import { storableText } from "../../../../base/json.ts";
import { readAnswer } from "./answer.ts";
import { writeName } from "./input-names.ts";

/** As the service writes them. */
function xml(answers: string): string {
  const schema = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd";
  return `<?xml version="1.0" encoding="ASCII"?>\n<QuestionFormAnswers xmlns="${schema}">${answers}</QuestionFormAnswers>\n`;
}

function typed(name: string, text: string): string {
  return `<Answer><QuestionIdentifier>${name}</QuestionIdentifier><FreeText>${text}</FreeText></Answer>`;
}

function selected(name: string, ...choices: readonly string[]): string {
  const picked = choices.map((choice) => `<SelectionIdentifier>${choice}</SelectionIdentifier>`).join("");
  return `<Answer><QuestionIdentifier>${name}</QuestionIdentifier>${picked}</Answer>`;
}

test("each text becomes what the name of its input says", () => {
  const given = [
    typed("name", " Ann "),
    typed("nick:optional", ""),
    typed("score:number", " 7.5 "),
    typed("year:number", ""),
    typed("sure:boolean", "on"),
    typed("shape:json", "[[1,2],[3,4]]"),
    typed("words:lines", " one\r\n\n two "),
    typed("sizes:numbers", "1, 2.5\nmany"),
    typed("marks:list", "a|b"),
  ];
  expect(readAnswer(xml(given.join("")))).toEqual({
    name: " Ann ",
    score: 7.5,
    sure: true,
    shape: [
      [1, 2],
      [3, 4],
    ],
    words: ["one", "two"],
    sizes: [1, 2.5, "many"],
    marks: ["a", "b"],
  });
});

test("what is not what its name says stays the text that it is", () => {
  const given = [typed("score:number", "seven"), typed("sure:boolean", "perhaps"), typed("shape:json", "{oops")];
  expect(readAnswer(xml(given.join("")))).toEqual({ score: "seven", sure: "perhaps", shape: "{oops" });
});

test("names with dots go into objects, and what was not filled in is what the page says it then is", () => {
  const given = [
    typed("$:else", "{}"),
    typed("address:else", "{}"),
    typed("address.city", "Ulm"),
    typed("tags:else", "[]"),
    typed("tags.2", "blue"),
    typed("tags.5", "green"),
    typed("sure:else", "false"),
    typed("note:else", "null"),
    typed("note:optional", ""),
    typed("a%2Eb", "one name with a dot"),
  ];
  expect(readAnswer(xml(given.join("")))).toEqual({
    address: { city: "Ulm" },
    tags: ["blue", "green"],
    sure: false,
    note: null,
    "a.b": "one name with a dot",
  });
});

test("an answer can be one value as a whole", () => {
  expect(readAnswer(xml(typed("$:number", "4")))).toBe(4);
  expect(readAnswer(xml(typed("$:else", "[]") + typed("0", "a") + typed("1", "b")))).toEqual(["a", "b"]);
});

test("selections, texts with entities and CDATA, comments and prefixes are read", () => {
  const given = [
    selected("one", "a"),
    selected("two", "a", "b"),
    selected("three:list", "a"),
    typed("text", "1 &lt; 2 &amp;&amp; &quot;3&quot; &#62; &#x32; <![CDATA[<b>&amp;</b>]]> &#128512;"),
    "<!-- a note --><Answer><QuestionIdentifier>empty</QuestionIdentifier><FreeText/></Answer>",
  ];
  const answer = { one: "a", two: ["a", "b"], three: ["a"], text: '1 < 2 && "3" > 2 <b>&amp;</b> 😀', empty: "" };
  expect(readAnswer(xml(given.join("")))).toEqual(answer);
  const prefixed = '<m:QuestionFormAnswers xmlns:m="x"><m:Answer a="1"><m:QuestionIdentifier>n</m:QuestionIdentifier>';
  expect(readAnswer(`${prefixed}<m:FreeText>1</m:FreeText></m:Answer></m:QuestionFormAnswers>`)).toEqual({ n: "1" });
});

test("nothing at all is an empty answer, and Amazon's own form is read", () => {
  expect(readAnswer("")).toEqual({});
  expect(readAnswer(xml(""))).toEqual({});
  expect(readAnswer(xml(typed("taskAnswers", '[{"box":{"left":1}}]')))).toEqual({ box: { left: 1 } });
});

const nonsense: readonly string[] = [
  "hello",
  "<QuestionFormAnswers>",
  "<QuestionFormAnswers></Answer>",
  "<QuestionFormAnswers/><QuestionFormAnswers/>",
  "<QuestionFormAnswers/> and more",
  "<Other/>",
  '<!DOCTYPE x [<!ENTITY a "b">]><QuestionFormAnswers/>',
  xml(typed("text", "&unknown;")),
  xml(typed("text", "&#0;")),
  xml(typed("text", "&#xD800;")),
  xml(typed("text", "a & b")),
  xml(typed("__proto__", "x")),
  xml(typed("__proto__.polluted", "yes")),
  xml(typed("deep:json", '{"__proto__":{"polluted":1}}')),
  xml(typed("a", "text") + typed("a.b", "below a text")),
  xml(typed("much:number", "1e999")),
  xml(typed("taskAnswers", "{")),
  xml(typed("a:else", "{")),
];
test.each(nonsense)("nonsense is given back as it came: %s", (text) => {
  expect(readAnswer(text)).toEqual({ $raw: text });
  expect({}).not.toHaveProperty("polluted");
});

test("what cannot be stored is not let in", () => {
  expect(readAnswer("a\u0000b\ud800")).toEqual({ $raw: "ab\ufffd" });
  const huge = readAnswer("x".repeat(2 * 1024 * 1024)) as { $raw: string };
  expect(huge.$raw.length).toBe(256 * 1024);
});

test("what is long and almost a number is read without trying every way to read it", () => {
  const long = `${"1".repeat(500_000)}x`;
  expect(readAnswer(xml(typed("score:number", long)))).toEqual({ score: long });
});

test("a name such as constructor is a name like any other", () => {
  expect(readAnswer(xml(typed("constructor.name", "x") + typed("toString", "y")))).toEqual(
    Object.fromEntries([
      ["constructor", { name: "x" }],
      ["toString", "y"],
    ]),
  );
});

test("an answer can be read by a function of one's own, which cannot do harm", () => {
  const given = xml(typed("q1", "a") + selected("q2", "b", "c"));
  expect(readAnswer(given, (all) => all.map(({ name, text, selected }) => [name, text ?? selected]))).toEqual([
    ["q1", "a"],
    ["q2", ["b", "c"]],
  ]);
  const failing = readAnswer(given, () => {
    throw new Error("no");
  });
  expect(failing).toEqual({ $raw: given });
});

/** Pieces that XML is made of, in any order. */
const shreds = fc.constantFrom(
  "<QuestionFormAnswers>",
  "</QuestionFormAnswers>",
  "<Answer>",
  "</Answer>",
  "<FreeText/>",
  "<QuestionIdentifier>a.b:else</QuestionIdentifier>",
  "<QuestionIdentifier>a:json</QuestionIdentifier>",
  "<FreeText>[1]</FreeText>",
  "<![CDATA[",
  "]]>",
  "<!--",
  "-->",
  "<?x",
  "?>",
  "&lt;",
  "&",
  ' x="1"',
  "<",
  ">",
);

test("whatever comes, something that can be stored comes of it", () => {
  const texts = fc.array(fc.oneof(shreds, fc.string({ unit: "binary", maxLength: 5 }))).map((all) => all.join(""));
  fc.assert(fc.property(texts, (text) => void storableText(readAnswer(text), "answer")));
});

test("any text under any name comes back as it was typed", () => {
  const text = fc.string({ unit: "grapheme-composite" });
  const name = fc.string({ unit: "grapheme-ascii", minLength: 1 }).filter((one) => one !== "__proto__");
  const escaped = (one: string) => one.replace(/[&<>]|[^ -~]/gu, (mark) => `&#${mark.codePointAt(0)};`);
  fc.assert(
    fc.property(name, text, (name, text) => {
      const input = writeName({ path: [name], kind: "text" });
      expect(readAnswer(xml(typed(escaped(input), escaped(text))))).toEqual({ [name]: text });
    }),
  );
});
