import { compute } from "../../../../base/guard.ts";
import { type Json, storableText } from "../../../../base/json.ts";
import { type InputName, type Kind, readName } from "./input-names.ts";
import { type GivenAnswer, readAnswers } from "./question-form-answers.ts";

const longestRaw = 256 * 1024;

/**
 * Reads a worker's input, by the names of the inputs. It may not match the page, since workers can post anything:
 * invalid input becomes `{ $raw }`, for the label's schema to refuse.
 */
export function readAnswer(xml: string, read: (given: readonly GivenAnswer[]) => Json = answerFrom): Json {
  const text = xml.replaceAll("\u0000", "").toWellFormed();
  if (text.trim() === "") return {};
  try {
    const given = readAnswers(text);
    if (given !== undefined) return storable(compute("hook_failed", "`answer` of mturk()", () => read(given)));
  } catch {
    // Parts that contradict each other, or a value that cannot be stored.
  }
  return { $raw: text.slice(0, longestRaw).toWellFormed() };
}

function storable(answer: Json): Json {
  storableText(answer, "answer");
  return answer;
}

/** By the names of the inputs; a form of Amazon's own elements puts all that it has into one. */
function answerFrom(given: readonly GivenAnswer[]): Json {
  const [first] = given;
  if (given.length === 1 && first?.name === "taskAnswers") {
    const answers: unknown = JSON.parse(first.text ?? "");
    return (Array.isArray(answers) && answers.length === 1 ? answers[0] : answers) as Json;
  }
  const named = given.map((one) => ({ ...readName(one.name), one }));
  const defaults = named.filter(({ kind }) => kind === "else");
  const answer: Place = { held: undefined };
  for (const { path, one } of defaults) put(answer, path, JSON.parse(one.text ?? "null"));
  for (const { path, kind, one } of named) {
    if (kind === "else") continue;
    const value = filledIn(kind, one);
    if (value !== undefined) put(answer, path, value);
  }
  return answer.held ?? {};
}

/** The name of the complete answer. */
interface Place {
  held: Json | undefined;
}

/** Sets a value at its path; a value for a list is appended. */
function put(answer: Place, path: InputName["path"], value: Json): void {
  const last = path.at(-1);
  if (last === undefined) {
    answer.held = value;
    return;
  }
  answer.held ??= {};
  let within: unknown = answer.held;
  for (const step of path.slice(0, -1)) {
    const object = objectOf(within, step);
    if (!Object.hasOwn(object, step)) object[step] = {};
    within = object[step];
  }
  if (Array.isArray(within)) within.push(value);
  else objectOf(within, last)[last] = value;
}

function objectOf(value: unknown, key: string): Record<string, Json> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject || key === "__proto__") throw new Error("The path is invalid.");
  return value as Record<string, Json>;
}

/** Undefined if the input was empty; the text itself if it is not of the expected type. */
function filledIn(kind: Kind, { text, selected }: GivenAnswer): Json | undefined {
  if (text === undefined) {
    const [only] = selected;
    const isOne = selected.length === 1 && only !== undefined && kind !== "list";
    return isOne ? filledIn(kind, { name: "", text: only, selected: [] }) : selected;
  }
  switch (kind) {
    case "number":
      return numberOf(text);
    case "boolean":
      return booleans.get(text.trim().toLowerCase()) ?? (text || undefined);
    case "json":
      return jsonOf(text);
    case "lines":
      return linesOf(text, /\r?\n|\r/);
    case "numbers":
      return linesOf(text, /[\s,;]+/).map((line) => numberOf(line) ?? line);
    case "list":
      return linesOf(text, /\|/);
    case "optional":
      return text === "" ? undefined : text;
    default:
      return text;
  }
}

const booleans = new Map([
  ...["true", "on", "yes", "1"].map((word) => [word, true] as const),
  ...["false", "off", "no", "0"].map((word) => [word, false] as const),
]);

function linesOf(text: string, between: RegExp): string[] {
  return text
    .split(between)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function numberOf(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : text;
}

function jsonOf(text: string): Json | undefined {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
