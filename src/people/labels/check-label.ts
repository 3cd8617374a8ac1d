import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ValidateFunction } from "ajv";
import { isPawlError, messageOf, PawlError } from "../../base/errors.ts";
import { ignoreRejection, isThenable } from "../../base/guard.ts";
import { cleanText, type Json, storableText } from "../../base/json.ts";
import type { AnyCrowd } from "../../definition/crowd.ts";
import type { AnyQueue, LabelContext, LabelVerdict } from "../../definition/queue.ts";
import { isSchema } from "../../definition/read/read.ts";
import { compileForm } from "./compile-form.ts";
import { type LabelFault, maxFaults, pointerOf, schemaFaults } from "./label-faults.ts";
import { ThreadValidator } from "./thread-validator.ts";
import { withinTime } from "./within-time.ts";

/** A valid label, as it is stored, or all its faults. */
export type CheckedLabel =
  | { readonly label: Json; readonly faults?: undefined }
  | { readonly label?: undefined; readonly faults: readonly LabelFault[] };

const maxLabelLength = 256 * 1024;
const sayMs = 1_000;
const askMs = 10_000;
/** How long a JSON Schema, which an operator may create at run time, may block the process. */
const blockMs = 5;

/** What labels are validated against: the schema and its form. */
export type LabelForm = Pick<AnyQueue, "label" | "form">;

/** Validates a label against its schema alone: it is JSON within the size limit, and matches. */
export async function fitsSchema(form: LabelForm, label: unknown): Promise<CheckedLabel> {
  const unstorable = storableFault(label);
  return unstorable === undefined ? againstSchema(form, label) : { faults: [unstorable] };
}

/**
 * Validates a label against its queue: it is JSON within the size limit, matches the schema, and passes every rule and
 * the author's own check. Rules get only labels that match the schema, so they can rely on it. All faults of rules and
 * check are returned together. No label makes it throw.
 */
export async function checkLabel(queue: AnyQueue, given: LabelContext): Promise<CheckedLabel> {
  const held = await fitsSchema(queue, given.label);
  if (held.faults !== undefined) return held;
  const context = { ...given, label: held.label };
  const verdicts = Object.entries(queue.rules).map(([name, rule]) => {
    return faultsOf(name, `The rule \`${name}\``, () => withinTime(sayMs, () => settled(rule(context))));
  });
  const { validate } = queue;
  if (validate !== undefined) {
    const say = () => inTime(withinTime(sayMs, () => validate(context)));
    verdicts.push(faultsOf("validate", "The check of the queue", say));
  }
  const faults = (await Promise.all(verdicts)).flat();
  return faults.length === 0 ? held : { faults: faults.slice(0, maxFaults) };
}

/** The label is invalid. `details.faults` has all faults, `{ path, code, message }` each. */
export function labelInvalid(of: AnyQueue | AnyCrowd, faults: readonly LabelFault[]): PawlError {
  const listed = faults.slice(0, 5).map(({ path, code, message }) => {
    if (path !== "") return `${path} ${message}`;
    const isRule = of.kind === "queue" && (code === "validate" || Object.hasOwn(of.rules, code));
    return isRule ? message : `the label ${message}`;
  });
  const more = faults.length > listed.length ? `; and ${faults.length - listed.length} more` : "";
  const text = `The label is invalid for ${of.kind} \`${of.name}\`: ${listed.join("; ")}${more}.`;
  return new PawlError("label_invalid", text, { [of.kind]: of.name, faults });
}

function storableFault(label: unknown): LabelFault | undefined {
  if (label === undefined) return { path: "", code: "required", message: "is missing" };
  try {
    const { length } = storableText(label, "");
    if (length <= maxLabelLength) return undefined;
    return { path: "", code: "too_large", message: `has ${length} characters; the maximum is ${maxLabelLength}` };
  } catch (error) {
    if (!isPawlError(error, "value_not_serializable")) throw error;
    const { place, reason } = error.details as { place: string; reason: string };
    return { path: pointerOf(place), code: "not_json", message: reason };
  }
}

async function againstSchema(queue: LabelForm, label: unknown): Promise<CheckedLabel> {
  const failed = (error: unknown): CheckedLabel => {
    const reason = isPawlError(error, "busy") ? error.message : `its schema threw: ${messageOf(error)}`;
    return {
      faults: [{ path: "", code: "schema_failed", message: cleanText(`could not be checked: ${reason}`, 500) }],
    };
  };
  try {
    if (!isSchema(queue.label)) {
      const faults = await jsonSchemaFaults(queue, label);
      return faults.length === 0 ? { label: label as Json } : { faults };
    }
    const schema: StandardSchemaV1 = queue.label;
    const result = await inTime(withinTime(sayMs, () => schema["~standard"].validate(label)));
    if (result.issues !== undefined) return { faults: result.issues.slice(0, maxFaults).map(issueFault) };
    const unstorable = storableFault(result.value); // The output of the schema's transforms is stored, not the input.
    return unstorable === undefined ? { label: result.value as Json } : { faults: [unstorable] };
  } catch (error) {
    return failed(error);
  }
}

/** Compiled once per queue or crowd. */
const validators = new WeakMap<LabelForm, Promise<ValidateFunction>>();
/** Forms whose validation was too slow: their labels are validated in the thread until one of them is fast there. */
const slow = new WeakSet<LabelForm>();
const thread = new ThreadValidator();

/** Slow validations, such as a pattern with catastrophic backtracking, run in a thread. */
async function jsonSchemaFaults(form: LabelForm, label: unknown): Promise<readonly LabelFault[]> {
  if (!slow.has(form)) {
    const validator = await validatorOf(form);
    try {
      const fits = withinTime(blockMs, () => validator(label));
      return fits ? [] : schemaFaults(validator.errors ?? []);
    } catch (error) {
      if (!isPawlError(error, "busy")) throw error;
      slow.add(form);
    }
  }
  const faults = await thread.validate(form.form, label, sayMs);
  slow.delete(form); // The process may have been slow, or that one label.
  return faults;
}

function validatorOf(form: LabelForm): Promise<ValidateFunction> {
  const known = validators.get(form);
  if (known !== undefined) return known;
  const compiled = compileForm(form.form);
  validators.set(form, compiled);
  return compiled;
}

/** Some libraries report the kind of an issue; Standard Schema does not require it. */
function issueFault(issue: StandardSchemaV1.Issue & { readonly code?: unknown }): LabelFault {
  const keys = (issue.path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment));
  const path = keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const code = typeof issue.code === "string" && /^[a-z_]{1,50}$/.test(issue.code) ? issue.code : "schema";
  return { path: cleanText(path, 500), code, message: cleanText(issue.message, 500) };
}

/**
 * The faults that a rule or a check reports; if it throws, the error is a fault, since an unchecked label is not
 * accepted.
 */
async function faultsOf(
  code: string,
  what: string,
  say: () => LabelVerdict | Promise<LabelVerdict>,
): Promise<LabelFault[]> {
  try {
    const verdict: unknown = await say();
    if (verdict === true) return [];
    const complaints = Array.isArray(verdict) ? verdict : [{ path: "", message: verdict }];
    return complaints.map(({ path, message }) => ({
      path: typeof path === "string" ? cleanText(path, 500) : "",
      code,
      message: typeof message === "string" && message !== "" ? cleanText(message, 500) : `${what} did not return true`,
    }));
  } catch (error) {
    const message = cleanText(`could not be checked: ${what} failed: ${messageOf(error)}`, 500);
    return [{ path: "", code: `${code}_failed`, message }];
  }
}

/** A rule must be synchronous: a promise would be mistaken for true. */
function settled(verdict: LabelVerdict): LabelVerdict {
  if (isThenable(verdict)) {
    ignoreRejection(verdict); // No caller awaits it.
    throw new PawlError("schema_async", "it is asynchronous; that is for `validate`");
  }
  return verdict;
}

/** Runs an asynchronous check with a time limit. */
async function inTime<Answer>(answer: Answer | PromiseLike<Answer>): Promise<Answer> {
  if (!isThenable(answer)) return answer;
  const settling = Promise.resolve(answer);
  settling.catch(() => {}); // It may reject after the time limit.
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new PawlError("busy", `it did not respond within ${askMs} ms`)), askMs);
  });
  try {
    return await Promise.race([settling, late]);
  } finally {
    clearTimeout(timer);
  }
}
