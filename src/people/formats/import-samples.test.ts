import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csvRecords } from "./csv-records.ts";
import { type CsvImportOptions, type ImportedLine, samplesFromCsv, samplesFromJsonl } from "./import-samples.ts";

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** A line in short: its number, and its sample or its error. */
function short(line: ImportedLine): unknown[] {
  return line.ok ? [line.line, line.sample] : [line.line, `${line.problem} ${line.remedy}`];
}

const fromCsv = async (text: string, options?: CsvImportOptions) =>
  (await all(samplesFromCsv([text], options))).map(short);
const fromJsonl = async (text: string, options?: CsvImportOptions) =>
  (await all(samplesFromJsonl([text], options))).map(short);

/** Every text in pieces of `size` bytes, also in the midst of a character. */
function* pieces(text: string, size: number): Generator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("samples from JSON Lines", () => {
  test("are the objects, with key and gold taken out", async () => {
    const text = '{"id":"a","text":"one","answer":{"animal":"cat"}}\r\n\n{"id":7,"text":"zwei"}';
    expect(await fromJsonl(text, { key: "id", gold: "answer" })).toEqual([
      [1, { key: "a", data: { text: "one" }, gold: { animal: "cat" } }],
      [3, { key: "7", data: { text: "zwei" } }],
    ]);
  });

  test("that cannot be read are told with their line and what to do, and the others come", async () => {
    const text = [
      '{"id":"a"',
      "[1,2]",
      '{"text":"no key"}',
      '{"id":{"a":1}}',
      '{"id":"b","__proto__":{"admin":true}}',
      '{"id":"c","big":12345678901234567890}',
      '{"id":"d","text":"\\u0000"}',
      '{"id":"e"}',
    ].join("\n");
    expect(await fromJsonl(text, { key: "id" })).toEqual([
      [1, expect.stringMatching(/^The line is not JSON: .+ Write one JSON value/)],
      [2, 'It is not an object. Write an object with named fields, such as {"text":"…"}.'],
      [3, 'It has no field "id" for its key. Give each sample a unique key.'],
      [4, expect.stringMatching(/^"id" must be a text of 1 to 500 characters/)],
      [5, expect.stringMatching(/__proto__ is a key that could change the objects of a reader/)],
      [6, "The line contains a number beyond 2^53, which would lose digits. Write it as a string."],
      [7, expect.stringMatching(/holds a NUL character/)],
      [8, { key: "e", data: {} }],
    ]);
  });

  test("may begin with a byte order mark; what is not UTF-8 is told", async () => {
    const bytes = Buffer.concat([
      Buffer.from('\ufeff{"text":"é"}\n{"text":"'),
      Buffer.from([0xe9]),
      Buffer.from('"}\n{"text":"ok"}'),
    ]);
    expect((await all(samplesFromJsonl([bytes]))).map(short)).toEqual([
      [1, { key: null, data: { text: "é" } }],
      [2, expect.stringMatching(/^It is not UTF-8. Save the file as UTF-8/)],
      [3, { key: null, data: { text: "ok" } }],
    ]);
  });

  test("that are longer than any line are passed over without being kept", async () => {
    function* input() {
      yield '{"text":"';
      for (let n = 0; n < 40; n++) yield "x".repeat(100_000);
      yield '"}\n{"text":"short"}\n';
    }
    expect((await all(samplesFromJsonl(input()))).map(short)).toEqual([
      [1, expect.stringMatching(/^It is longer than 2097152 bytes/)],
      [2, { key: null, data: { text: "short" } }],
    ]);
  });
});

describe("samples from CSV", () => {
  test("are the records by their header; quotes hold separators, line ends and quotes", async () => {
    const text = '\ufeffid,text,score\r\na,"one, ""two""\r\nthree",4.5\r\n\r\nb,,\n';
    expect(await fromCsv(text, { key: "id", columns: { score: "number" } })).toEqual([
      [2, { key: "a", data: { text: 'one, "two"\r\nthree', score: 4.5 } }],
      [5, { key: "b", data: { text: "" } }],
    ]);
  });

  test("may hold numbers, truths and JSON where told so", async () => {
    const columns = { n: "number", b: "boolean", j: "json" } as const;
    expect(await fromCsv('n,b,j,gold\n1e3,yes,"{""a"":[1]}",cat\n-1,0,,', { columns, gold: "gold" })).toEqual([
      [2, { key: null, data: { n: 1000, b: true, j: { a: [1] } }, gold: "cat" }],
      [3, { key: null, data: { n: -1, b: false }, gold: "" }],
    ]);
    expect(await fromCsv("n,b,j\nx,yes,1\n1,maybe,1\n1,no,{", { columns })).toEqual([
      [2, 'Column "n" contains "x". Write a number such as 4.5.'],
      [3, 'Column "b" contains "maybe". Write true or false.'],
      [4, expect.stringMatching(/^Column "j" is not JSON/)],
    ]);
  });

  test("that cannot be read are told with their line and what to do; one quote too many costs one record", async () => {
    const text = ["text,n", 'a"b,1', '"a"b,2', "c", '"never closed,3', "d,4", 'e,"5"', '"open at the end,6', "f,7"];
    expect(await fromCsv(text.join("\r\n"))).toEqual([
      [2, 'A quote appears in a field that is not quoted. Put the field in quotes and write the quote twice, "".'],
      [3, 'Something follows a closing quote. Put a separator there; a quote within a field is written twice, "".'],
      [4, "It has 1 fields; the header has 2. Write a field for each column; quote a field that contains a separator."],
      [5, expect.stringMatching(/^Something follows a closing quote/)],
      [6, { key: null, data: { text: "d", n: "4" } }],
      [7, { key: null, data: { text: "e", n: "5" } }],
      [8, 'A quote is not closed. Close it; a quote within a field is written twice, "".'],
      [9, { key: null, data: { text: "f", n: "7" } }],
    ]);
  });

  test.each([
    ["a,a\n1,2", 'Two columns have the name "a". Give each column a unique name.'],
    ["a,,b\n1,2,3", "Column 2 of the header has no name. Name every column."],
    ['"a\n1,2', "A quote is not closed."],
    ["a,b\n1,2", 'Column "id" does not exist. Use one of "a", "b".'],
  ])("need a header that can be used: %j", async (text, fault) => {
    expect(await fromCsv(text, { key: "id" })).toEqual([[1, expect.stringContaining(fault)]]);
  });

  test("may be separated by something else", async () => {
    expect(await fromCsv("a;b\n1;2,5", { delimiter: ";" })).toEqual([[2, { key: null, data: { a: "1", b: "2,5" } }]]);
    await expect(fromCsv("a", { delimiter: '"' })).rejects.toMatchObject({ code: "option_invalid" });
  });

  test("a header cannot change the objects of a reader", async () => {
    expect(await fromCsv("__proto__,a\n1,2")).toEqual([[2, expect.stringMatching(/__proto__ is a key/)]]);
  });
});

test("any records come back from their CSV, however it is cut in pieces", async () => {
  const field = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom('"', ",", "\n", "\r\n", 'a"b', "", "é😀"));
  const records = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(records, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (given, size, crlf) => {
      const quoted = given.map((fields) => fields.map((text) => `"${text.replaceAll('"', '""')}"`).join(","));
      const text = quoted.map((line) => line + (crlf ? "\r\n" : "\n")).join("");
      const read = await all(csvRecords(pieces(text, size)));
      expect(read.map(({ fields }) => fields)).toEqual(given);
    }),
  );
});

test("an import goes on behind its last good line", async () => {
  const csv = 'id,text\na,one\nb,"two\r\nlines"\nbad\nc,trois é\nd,vier\n';
  const jsonl = '{"id":"a"}\n\n{"id":"é"}\nbad\n{"id":"c"}\n';
  for (const [read, text] of [
    [samplesFromCsv, csv],
    [samplesFromJsonl, jsonl],
  ] as const) {
    const whole = await all(read([text], { key: "id" }));
    for (const [index, { cursor }] of whole.entries()) {
      const kept = JSON.parse(JSON.stringify(cursor));
      expect(await all(read(pieces(text, 3), { key: "id", after: kept }))).toEqual(whole.slice(index + 1));
    }
  }
});

test("an import takes no more of its input than it gives out, and keeps none of it", async () => {
  let given = 0;
  async function* endless() {
    yield "id,text\n";
    for (;;) yield `k${given++},"some text, and more of it"\n`;
  }
  let [taken, before] = [0, 0];
  for await (const line of samplesFromCsv(endless(), { key: "id" })) {
    expect(line.ok).toBe(true);
    if (++taken === 1_000) before = process.memoryUsage().heapUsed;
    if (taken === 50_000) break;
  }
  expect(given - taken).toBeLessThan(5);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60e6);
});
