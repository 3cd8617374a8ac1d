import { expect, test } from "vitest";
import { z } from "zod";
import type { Json } from "../../../../base/json.ts";
import { crowd } from "../../../../definition/crowd.ts";
import type { LabelSchema } from "../../../../definition/queue.ts";
import { readAnswer } from "./answer.ts";
import { htmlQuestion } from "./question.ts";

function pageFor(label: LabelSchema, content: Json = null, title = "Look"): string {
  const asked = crowd("looks", { label: label as z.ZodType<Json>, marketplace: "mturk", title, description: "Do it." });
  return htmlQuestion({ content, form: asked.form, crowd: asked }, "https://workersandbox.mturk.com");
}

/** The names of all inputs that a worker sees. */
function inputsOf(page: string): string[] {
  const shown = page.matchAll(/<(?:input type="(?!hidden)\w+"|textarea|select) name="([^"]*)"/g);
  return [...new Set([...shown].map(([, name]) => name!))];
}

/** The answer when a worker fills in some inputs: a browser also sends hidden ones. */
function answerTo(page: string, filled: Readonly<Record<string, string>>): Json {
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [
    name!,
    value!.replaceAll("&quot;", '"'),
  ]);
  const sent = [...hidden.filter(([name]) => name !== "assignmentId"), ...Object.entries(filled)];
  const answers = sent.map(
    ([name, text]) => `<Answer><QuestionIdentifier>${name}</QuestionIdentifier><FreeText>${text}</FreeText></Answer>`,
  );
  return readAnswer(`<QuestionFormAnswers>${answers.join("")}</QuestionFormAnswers>`);
}

const everything = z.object({
  total: z.number().min(0).max(99),
  year: z.int().optional(),
  currency: z.enum(["EUR", "USD"]),
  stars: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  readable: z.boolean(),
  note: z.string().nullable(),
  comment: z.string().max(200).optional(),
  shop: z.object({ name: z.string(), "zip.code": z.string().optional() }),
  marks: z.array(z.enum(["torn", "wet"])),
  items: z.array(z.string()),
  sizes: z.array(z.number()),
  boxes: z.array(z.object({ x: z.number() })),
});

test("a form has an input for each part of a label, with a name that tells what it is", () => {
  const page = pageFor(everything);
  expect(inputsOf(page)).toEqual([
    "total:number",
    "year:number",
    "currency",
    "stars:json",
    "readable:boolean",
    "note:optional",
    "comment:optional",
    "shop.name",
    "shop.zip%2Ecode:optional",
    "marks.0",
    "marks.1",
    "items:lines",
    "sizes:numbers",
    "boxes:json",
  ]);
  expect(page).toContain('<input type="number" name="total:number" step="any" min="0" max="99" required>');
  expect(page).toContain('<textarea name="comment:optional" rows="2" maxlength="200"></textarea>');
});

test("what a worker fills in comes back as a label that fits", () => {
  const filled = {
    "total:number": "12.5",
    "year:number": "",
    currency: "EUR",
    "stars:json": "2",
    "readable:boolean": "true",
    "note:optional": "",
    "comment:optional": "",
    "shop.name": "Corner",
    "shop.zip%2Ecode:optional": "89073",
    "marks.1": "wet",
    "items:lines": "milk\nbread",
    "sizes:numbers": "1\n2",
    "boxes:json": '[{"x":1}]',
  };
  const answer = answerTo(pageFor(everything), filled);
  expect(answer).toEqual({
    total: 12.5,
    currency: "EUR",
    stars: 2,
    readable: true,
    note: null,
    shop: { name: "Corner", "zip.code": "89073" },
    marks: ["wet"],
    items: ["milk", "bread"],
    sizes: [1, 2],
    boxes: [{ x: 1 }],
  });
  expect(everything.safeParse(answer).success).toBe(true);
});

test("boxes that nobody ticked say no, and groups in which nothing stands are there", () => {
  const label = z.object({
    seen: z.boolean(),
    marks: z.array(z.enum(["a", "b"])),
    more: z.object({ x: z.number().optional() }),
  });
  expect(answerTo(pageFor(label), {})).toEqual({ seen: false, marks: [], more: {} });
});

test("a label that is one answer has one input, and many choices are a list to pick from", () => {
  expect(inputsOf(pageFor(z.enum(["cat", "dog"])))).toEqual(["$"]);
  const days = z.enum(["mo", "tu", "we", "th", "fr", "sa", "su", "no day"]);
  const page = pageFor(days);
  expect(page).toContain('<select name="$" required><option value=""></option><option value="mo">');
  expect(answerTo(page, { $: "no day" })).toBe("no day");
});

test("references are followed, and a schema that leads back to itself ends as JSON", () => {
  const label = {
    type: "object",
    properties: { person: { $ref: "#/$defs/person" } },
    required: ["person"],
    $defs: {
      person: {
        type: "object",
        properties: { name: { type: "string" }, friend: { $ref: "#/$defs/person" } },
        required: ["name", "friend"],
      },
    },
  };
  const names = inputsOf(pageFor(label));
  expect(names.slice(0, 2)).toEqual(["person.name", "person.friend.name"]);
  expect(names.at(-1)).toMatch(/:json$/);
});

test("nothing that is shown can become markup, or end the page", () => {
  const evil = `</form><script>alert("1")</script>]]>&'\u0001`;
  const label = { type: "object", properties: { [evil]: { type: "string", title: evil, description: evil } } };
  const page = pageFor(label, { [evil]: evil, list: [`${evil}\ud800`, 1, true, null] }, evil);
  expect(page).not.toContain("<script>alert");
  expect(page.match(/<\/form>/g)).toHaveLength(1);
  expect(page.split("]]>")).toHaveLength(2);
  expect(page).not.toContain("\u0001");
  expect(page.isWellFormed()).toBe(true);
});

test("pictures and links are shown as such, and nothing else is", () => {
  const page = pageFor(z.string(), ["https://a.test/b.png?c=1", "http://a.test/x", "javascript:alert(1)"]);
  expect(page).toContain('<img src="https://a.test/b.png?c=1" alt="">');
  expect(page).toContain('<a href="http://a.test/x" target="_blank" rel="noopener noreferrer">');
  expect(page).toContain('<p class="text">javascript:alert(1)</p>');
});
