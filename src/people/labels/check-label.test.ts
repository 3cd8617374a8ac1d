import { type } from "arktype";
import fc from "fast-check";
import * as v from "valibot";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { type AnyQueue, queue } from "../../definition/queue.ts";
import type { JsonSchema } from "../../definition/schema/json-schema.ts";
import { checkLabel, labelInvalid } from "./check-label.ts";

const asJsonSchema = queue("animals", {
  label: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    required: ["animal", "sure"],
    additionalProperties: false,
    properties: {
      animal: { enum: ["cat", "dog"] },
      sure: { type: "integer", minimum: 1, maximum: 5 },
      tags: { type: "array", items: { type: "string", minLength: 1 }, maxItems: 3, uniqueItems: true },
      box: { type: "object", properties: { "a/b": { type: "number", exclusiveMinimum: 0 } } },
      code: { type: "string", pattern: "^[A-Z]{3}$" },
    },
  },
});

/** What makes a value one that can be awaited. */
const awaited: string = ["th", "en"].join("");

async function faultsOf(from: AnyQueue, label: unknown): Promise<string[]> {
  const { faults = [] } = await checkLabel(from, { label, sample: { text: "?" }, labeler: "ada" });
  return faults.map(({ path, code, message }) => `${path} [${code}] ${message}`);
}

afterEach(() => {
  vi.useRealTimers();
});

describe("a label of a JSON Schema", () => {
  test("that fits is taken as it is", async () => {
    const label = { animal: "cat", sure: 5, tags: ["old"], code: "ABC" };
    expect(await checkLabel(asJsonSchema, { label, sample: null, labeler: "ada" })).toEqual({ label });
  });

  test("that does not fit is told all its faults at once, with place, code and words", async () => {
    const label = { sure: 9, tags: ["", "x", "x", "y"], box: { "a/b": 0 }, code: "abc", extra: 1 };
    expect((await faultsOf(asJsonSchema, label)).sort()).toEqual([
      "/animal [required] is missing",
      "/box/a~1b [exclusiveMinimum] must be above 0",
      "/code [pattern] must match ^[A-Z]{3}$",
      "/extra [additionalProperties] is not a known field",
      "/sure [maximum] must be at most 5",
      "/tags [maxItems] must have at most 3 items",
      "/tags [uniqueItems] must not have duplicates",
      "/tags/0 [minLength] must not be empty",
    ]);
    expect(await faultsOf(asJsonSchema, { animal: "cow", sure: 1.5 })).toEqual([
      '/animal [enum] must be one of "cat", "dog"',
      "/sure [type] must be a whole number",
    ]);
  });

  test("is held against a schema that was compiled once", async () => {
    let looks = 0;
    const schema = {
      get type() {
        looks++;
        return "string";
      },
    };
    const texts = queue("texts", { label: schema });
    await faultsOf(texts, "x");
    looks = 0;
    for (const label of ["y", 5, "z"]) await faultsOf(texts, label);
    expect(looks).toBe(0);
  });

  test("of any schema that a queue takes can be checked", async () => {
    const leaf = fc.constantFrom<unknown>(
      ...[{ type: "string" }, { type: ["array", "null"] }, { type: "text" }, { minimum: 1 }, { minimum: "1" }],
      ...[{ pattern: "^a" }, { pattern: "(" }, { enum: [1, "a", {}] }, { enum: [] }, { required: ["a"] }, true, false],
      ...[{ $ref: "#" }, { $ref: "#/$defs/a" }, { $ref: "#/properties/a" }, { $ref: "other" }, { maxItems: 2 }],
    );
    const around = (inner: fc.Arbitrary<unknown>) =>
      fc.oneof(
        fc.record({ properties: fc.record({ a: inner, b: inner }) }),
        fc.record({ properties: fc.record({ a: leaf }), $defs: fc.record({ a: inner }), items: leaf }),
        fc.record({ allOf: fc.tuple(inner, leaf), not: leaf }),
        fc.record({ items: inner, unevaluatedProperties: leaf }),
      );
    const schema = fc.oneof(around(leaf), around(around(leaf)));
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(schema, fc.jsonValue(), async (given, label) => {
        let some: AnyQueue;
        try {
          some = queue("some", { label: given as JsonSchema });
        } catch {
          return;
        }
        taken++;
        expect((await faultsOf(some, label)).join()).not.toContain("schema_failed");
      }),
      { numRuns: 200 },
    );
    expect(taken).toBeGreaterThan(10);
  });

  test("with a pattern that never comes to an end is refused, not waited for", async () => {
    const trap = queue("trap", { label: { type: "string", pattern: "^(a+)+$" } });
    expect(await faultsOf(trap, "aaaa")).toEqual([]);
    expect(await faultsOf(trap, `${"a".repeat(50)}!`)).toEqual([
      " [schema_failed] could not be checked: It took longer than 1000 ms.",
    ]);
    expect(await faultsOf(trap, "b")).toEqual([" [pattern] must match ^(a+)+$"]); // And all is well after it.
  });

  test("that takes for ever blocks neither the process nor the labels of other queues", async () => {
    let beats = 0;
    const heart = setInterval(() => beats++, 1);
    const trap = queue("trap", { label: { type: "string", pattern: "(a+)+$" } });
    const tooLong = [" [schema_failed] could not be checked: It took longer than 1000 ms."];
    try {
      const ends: string[] = [];
      const trapped = [1, 2].map(async () => {
        expect(await faultsOf(trap, `${"a".repeat(50_000)}!`)).toEqual(tooLong);
        ends.push("trap");
      });
      expect(await faultsOf(asJsonSchema, { animal: "cat", sure: 5 })).toEqual([]);
      ends.push("other");
      await Promise.all(trapped);
      expect(ends).toEqual(["other", "trap", "trap"]);
      expect(beats).toBeGreaterThan(50); // The process would wait for each of these checks.
    } finally {
      clearInterval(heart);
    }
  });

  test("that takes long is refused while many such labels wait", async () => {
    const trap = queue("trap", { label: { type: "string", pattern: "^(a+)+$" } });
    const short = queue("short", { label: { type: "string", pattern: "^(b+)+$" } });
    await faultsOf(trap, `${"a".repeat(50)}!`); // Its next labels are for the thread.
    const all = Array.from({ length: 1_002 }, () => faultsOf(trap, "a"));
    const outcomes = await Promise.all(all);
    expect(outcomes.filter((faults) => faults.length === 0)).toHaveLength(1_001); // One in work, and those that wait.
    expect(outcomes.at(-1)![0]).toMatch(/1000 labels are waiting for validation/);
    expect(await faultsOf(short, "b")).toEqual([]);
  });
});

describe("a label of a library's schema", () => {
  const zod = z.object({ score: z.number().min(0).max(10), note: z.string().default("") });

  test("is taken as the schema makes it", async () => {
    const essays = queue("essays", { label: zod });
    const checked = await checkLabel(essays, { label: { score: 7, more: 1 }, sample: null, labeler: "ada" });
    expect(checked).toEqual({ label: { score: 7, note: "" } });
  });

  test.each<[string, AnyQueue, string[]]>([
    ["zod", queue("essays", { label: zod }), ["/score [too_big]", "/note [invalid_type]"]],
    ["arktype", queue("essays", { label: type({ score: "0 <= number <= 10", note: "string" }) }), ["/note", "/score"]],
    ["valibot", queue("essays", { label: withJsonSchema() }), ["/score [schema]", "/note [schema]"]],
  ])("of %s is told its faults with place and code", async (_library, from, faults) => {
    const found = await faultsOf(from, { score: 11, note: 5 });
    expect(found).toHaveLength(2);
    for (const fault of faults) expect(found.some((each) => each.startsWith(fault))).toBe(true);
  });

  /** As its converter does. */
  function withJsonSchema() {
    const schema = v.object({ score: v.pipe(v.number(), v.maxValue(10)), note: v.string() });
    const json = () => ({ type: "object", properties: { score: { type: "number", maximum: 10 } } });
    return { "~standard": { ...schema["~standard"], jsonSchema: { input: json, output: json } } };
  }

  test("may be checked asynchronously, and a schema that throws takes nothing", async () => {
    const slow = z.string().refine(async (text) => text !== "bad", "is bad");
    expect(await faultsOf(queue("slow", { label: slow }), "bad")).toEqual([" [custom] is bad"]);
    const broken = z.string().refine(() => {
      throw new Error("out of order");
    });
    expect((await faultsOf(queue("broken", { label: broken }), "x"))[0]).toMatch(/\[schema_failed\].*out of order/);
  });

  test("must give what can be stored", async () => {
    const dates = queue("dates", { label: z.string().transform((text) => new Date(text)) as never });
    expect((await faultsOf(dates, "2026-01-01"))[0]).toMatch(/\[not_json\] is a Date, which JSON cannot carry/);
  });
});

describe("rules and the queue's own check", () => {
  const label = z.object({ animal: z.string(), sure: z.boolean(), comment: z.string().optional() });

  test("all say what they have against a label that fits the schema", async () => {
    const animals = queue("animals", {
      label,
      rules: {
        says_why: ({ label }) => label.sure || (label.comment ?? "") !== "" || "say what makes you unsure",
        known: ({ label, sample }) =>
          label.animal !== "unicorn" || [{ path: "/animal", message: `is not in ${String(sample)}` }],
        fine: () => true,
      },
      validate: async ({ labeler }) => labeler !== "eve" || "this labeler is on leave",
    });
    const given = { label: { animal: "unicorn", sure: false }, sample: "s1", labeler: "eve" };
    expect((await checkLabel(animals, given)).faults).toEqual([
      { path: "", code: "says_why", message: "say what makes you unsure" },
      { path: "/animal", code: "known", message: "is not in s1" },
      { path: "", code: "validate", message: "this labeler is on leave" },
    ]);
    expect(await faultsOf(animals, { animal: "cat", sure: true })).toEqual([]);
  });

  test("are not asked about a label that does not fit the schema", async () => {
    const rule = vi.fn(() => true as const);
    await faultsOf(queue("animals", { label, rules: { rule }, validate: rule }), { animal: 5 });
    expect(rule).not.toHaveBeenCalled();
  });

  test("that fail take nothing, whatever it is that they do", async () => {
    const broken = queue("broken", {
      label,
      rules: {
        throws: () => {
          throw new Error("no such list");
        },
        promises: (async () => true) as never,
        says_nothing: (() => undefined) as never,
        loops: () => {
          for (;;);
        },
      },
      validate: () => Promise.reject(new Error("service down")),
    });
    expect(await faultsOf(broken, { animal: "cat", sure: true })).toEqual([
      " [throws_failed] could not be checked: The rule `throws` failed: no such list",
      " [promises_failed] could not be checked: The rule `promises` failed: it is asynchronous; that is for `validate`",
      " [says_nothing] The rule `says_nothing` did not return true",
      " [loops_failed] could not be checked: The rule `loops` failed: It took longer than 1000 ms.",
      " [validate_failed] could not be checked: The check of the queue failed: service down",
    ]);
  });

  test("a check that does not answer is given up after ten seconds", async () => {
    vi.useFakeTimers();
    const silent = queue("silent", { label, validate: () => new Promise(() => {}) });
    const asked = faultsOf(silent, { animal: "cat", sure: true });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await asked).toEqual([
      " [validate_failed] could not be checked: The check of the queue failed: it did not respond within 10000 ms",
    ]);
  });

  test("may return promises of another library, which count like any other", async () => {
    vi.useFakeTimers();
    const thenable = (settle: (done: (value: unknown) => void) => void) =>
      Object.fromEntries([[awaited, settle]]) as never;
    const never = thenable(() => {});
    const schema = (result: never) => ({ "~standard": { ...z.json()["~standard"], validate: () => result } }) as never;
    const animal = { animal: "cat", sure: true };
    const kept = queue("kept", { label: schema(thenable((done) => done({ value: { animal: "dog" } }))) });
    expect((await checkLabel(kept, { label: animal, sample: "s1", labeler: "ada" })).label).toEqual({ animal: "dog" });
    const refused = queue("refused", { label: schema(thenable((done) => done({ issues: [{ message: "no" }] }))) });
    expect(await faultsOf(refused, animal)).toEqual([" [schema] no"]);
    const rule = queue("rule", { label, rules: { promises: () => never } });
    expect(await faultsOf(rule, animal)).toEqual([
      " [promises_failed] could not be checked: The rule `promises` failed: it is asynchronous; that is for `validate`",
    ]);
    for (const silent of [
      queue("silent", { label: schema(never) }),
      queue("silent", { label, validate: () => never }),
    ]) {
      const asked = faultsOf(silent, animal);
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await asked).join()).toMatch(/could not be checked: .*it did not respond within 10000 ms/);
    }
  });
});

describe("a bad label", () => {
  test("of whatever kind is a value and never a throw", async () => {
    const circular: Record<string, unknown> = { a: { b: [] } };
    (circular.a as { b: unknown[] }).b.push(circular);
    const bad: [unknown, RegExp][] = [
      [undefined, /^ \[required\] is missing/],
      [() => 5, /\[not_json\] is a function/],
      [{ a: [1, { b: 5n }] }, /^\/a\/1\/b \[not_json\] is a bigint/],
      [circular, /\[not_json\] is nested deeper/],
      [JSON.parse('{ "__proto__": {} }'), /^\/__proto__ \[not_json\]/],
      ["\u0000", /\[not_json\] holds a NUL/],
      ["x".repeat(300_000), /\[too_large\] has 300002 characters; the maximum is 262144/],
    ];
    for (const [label, fault] of bad) expect((await faultsOf(asJsonSchema, label))[0]).toMatch(fault);
  });

  test("of any JSON is answered", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (label) => {
        expect((await faultsOf(asJsonSchema, label)).length).toBeGreaterThan(0);
      }),
      { numRuns: 50 },
    );
  });

  test("has at most fifty faults to tell", async () => {
    const many = queue("many", { label: { type: "array", items: { type: "string" } } });
    expect(
      await faultsOf(
        many,
        Array.from({ length: 5_000 }, () => 5),
      ),
    ).toHaveLength(50);
  });

  test("is an error with all faults as data", async () => {
    const { faults } = await checkLabel(asJsonSchema, { label: {}, sample: null, labeler: "ada" });
    const error = labelInvalid(asJsonSchema, faults!);
    expect(error).toMatchObject({ code: "label_invalid", fault: "request", details: { queue: "animals", faults } });
    expect(error.message).toBe("The label is invalid for queue `animals`: /animal is missing; /sure is missing.");
  });
});
