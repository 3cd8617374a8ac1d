import { PawlError } from "../base/errors.ts";
import { type Json, storableText } from "../base/json.ts";
import type { AnyCrowd } from "../definition/crowd.ts";

/** A crowd, or its name. */
export type CrowdRef = AnyCrowd | string;

/** Who does it, and why. */
export interface CrowdCallOptions {
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
}

export interface AskOptions extends CrowdCallOptions {
  /** What workers are shown. */
  readonly content: unknown;
  /** A key of your own, unique within the crowd: asking again returns the same job. */
  readonly key?: string | undefined;
  /** Your own transaction: the question is part of it and takes effect when you commit. */
  readonly tx?: unknown;
}

export interface DecideOptions extends CrowdCallOptions {
  /** The feedback for the worker; required for a rejection. */
  readonly feedback?: string | undefined;
}

export interface BonusOptions extends CrowdCallOptions {
  /** Such as "0.50". */
  readonly amount: string;
  /** The message for the worker. */
  readonly reason: string;
  /** Another bonus for the same submission needs another key: without one, it is paid once. */
  readonly key?: string | undefined;
}

export function contentOf(given: unknown): Json {
  if (given === undefined) {
    throw new PawlError("option_invalid", "A crowd job needs `content` to show to workers.");
  }
  storableText(given, "The content of a crowd job");
  return given as Json;
}

export function crowdNameOf(given: unknown): string {
  const name = typeof given === "string" ? given : (given as { name?: unknown } | null | undefined)?.name;
  if (typeof name === "string" && name !== "") return name;
  throw new PawlError("option_invalid", "Name the crowd: pass the return value of crowd(), or its name.");
}

const longestFeedback = 1_000;

export function feedbackOf(given: unknown, isNeeded: boolean, option = "feedback"): string | null {
  if ((given === undefined || given === null) && !isNeeded) return null;
  const text = typeof given === "string" ? given.trim() : "";
  if (text === "" || text.length > longestFeedback || /\p{Cc}/u.test(text.replaceAll("\n", " "))) {
    throw new PawlError(
      "option_invalid",
      `\`${option}\` must be a string of 1 to ${longestFeedback} characters: it is the message to the worker${isNeeded ? ", and is required" : ""}.`,
    );
  }
  return text;
}

export function amountOf(given: unknown): string {
  if (typeof given === "string" && /^\d{1,7}(\.\d{1,2})?$/.test(given) && Number(given) > 0) return given;
  throw new PawlError("option_invalid", '`amount` must be a string such as "0.50".');
}
