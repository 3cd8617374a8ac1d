import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type Duration, durationMs } from "../../base/duration.ts";
import { PawlError } from "../../base/errors.ts";
import { checkedOptions } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import { deleteExpiredTokens, insertToken, type KnownToken, readToken } from "../../store/callbacks/callback-tokens.ts";
import { readAnswers } from "../../store/callbacks/callbacks.ts";
import type { Kernel } from "../kernel.ts";
import { retryThroughOutage } from "../retry-through-outage.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import { checkCallbackEvent } from "./receive.ts";

const prefix = "pawlcb_";
const secretBytes = 32;
const standardExpiry = "7d";
const longestMs = 366 * 86_400_000;

/**
 * Creates a token with which an external system can answer for one event of this instance. The database stores its hash
 * before the token is returned.
 */
export async function makeToken(
  kernel: Kernel,
  task: ClaimedTask,
  signal: AbortSignal,
  event: unknown,
  options: unknown,
): Promise<string> {
  const name = checkedText(event, "The event of a callback token");
  checkCallbackEvent(task.lifecycle, name);
  const given = (options ?? undefined) as { expiresIn?: Duration } | undefined;
  const { expiresIn = standardExpiry } = checkedOptions(given, ["expiresIn"], "step.callbackToken");
  const expiresAfterMs = durationMs(expiresIn, "callbackToken({ expiresIn })");
  if (expiresAfterMs > longestMs) throw new PawlError("option_invalid", "A callback token is good for a year at most.");
  const [id, secret] = [kernel.newId(), randomBytes(secretBytes)];
  const token = { id, hash: hashOf(secret), instanceId: task.row.id, event: name, expiresAfterMs };
  if (!(await retryThroughOutage(kernel, signal, () => insertToken(kernel.db, task.lease, token)))) {
    const { taskId } = task.lease;
    throw new PawlError("lease_lost", `The lease of task ${taskId} was lost; it can hand out no token.`, { taskId });
  }
  return prefix + Buffer.concat([Buffer.from(id.replaceAll("-", ""), "hex"), secret]).toString("base64url");
}

/** The instance and the event of a token. Throws `token_invalid`, without details for strangers. */
export async function redeemToken(kernel: Kernel, given: unknown): Promise<KnownToken & { readonly id: string }> {
  const bytes = typeof given === "string" && given.startsWith(prefix) ? decoded(given.slice(prefix.length)) : undefined;
  if (bytes === undefined) throw invalid("This is no callback token.");
  const id = bytes
    .subarray(0, 16)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  const known = await readToken(kernel.db, id);
  const hash = hashOf(bytes.subarray(16));
  // Takes the same time for a wrong secret as for an unknown token.
  const isRight = timingSafeEqual(Buffer.from(hash), Buffer.from(known?.hash ?? hashOf(randomBytes(secretBytes))));
  if (known === undefined || !isRight) throw invalid("This callback token is not known.");
  if (known.is_expired) throw invalid("This callback token has expired.");
  if (known.is_old) throw invalid("This callback token was given out in an earlier run of its instance.");
  return { ...known, id };
}

/** An error first, results that a guard refused, one that is applied: more than any service sends for one event. */
const maxUses = 10;

/** Throws `token_spent` if the token has no callbacks left. A stored callback may be repeated. */
export async function refuseSpent(
  kernel: Kernel,
  { uses, instance_id: instanceId }: KnownToken,
  dedupe: string,
): Promise<void> {
  if (uses < maxUses || (await readAnswers(kernel.db, [{ instanceId, dedupe }])).length > 0) return;
  const message = `This callback token was used for ${uses} callbacks; the limit is ${maxUses}. Nothing was stored. Repeat an earlier callback with its \`dedupeKey\`, or create a new token.`;
  throw new PawlError("token_spent", message, { uses, limit: maxUses });
}

function decoded(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.length === 16 + secretBytes && bytes.toString("base64url") === text ? bytes : undefined;
}

function hashOf(secret: Buffer): string {
  return createHash("sha256").update(secret).digest("base64url");
}

function invalid(message: string): PawlError {
  return new PawlError("token_invalid", `${message} Ask for a new one where it came from.`);
}

/** Deletes expired tokens. */
export function tidyTokens(kernel: Kernel): Promise<number> {
  return deleteExpiredTokens(kernel.db, 500);
}
