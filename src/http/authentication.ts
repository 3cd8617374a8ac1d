import { createHash } from "node:crypto";
import type { Principal } from "../access/access.ts";
import { isRole, roles } from "../access/roles.ts";
import { logOf } from "../api/internals.ts";
import type { Pawl } from "../api/pawl.ts";
import { type Duration, durationMs } from "../base/duration.ts";
import { messageOf, PawlError } from "../base/errors.ts";
import { checkedText } from "../base/text.ts";
import { settleWithin } from "../kernel/time-limit.ts";
import { logFailure } from "../telemetry/log.ts";

/** Identifies the sender of a request in your own way; undefined if your application does not know the sender. */
export type Authenticate = (request: Request) => Principal | undefined | Promise<Principal | undefined>;

export interface AuthenticationOptions {
  /** Identifies the sender where your application knows them. Tokens and sessions are checked when it returns undefined. */
  readonly authenticate?: Authenticate | undefined;
  /**
   * How long `authenticate` may take. A request for which it takes longer is answered with 503.
   * @default "10s"
   */
  readonly authenticateTimeout?: Duration | undefined;
  /**
   * How often `authenticate` is called again while a live stream is open: once for all streams of one credential. A stream
   * ends when it no longer returns the same name and role, or fails.
   * @default "30s"
   */
  readonly reauthenticateInterval?: Duration | undefined;
}

/** Refuses a time limit that is none when the app is built, instead of with the first request. */
export function authenticationLimitMs({ authenticateTimeout = "10s" }: AuthenticationOptions): number {
  return positiveMs(authenticateTimeout, "authenticateTimeout");
}

export function reauthenticateEveryMs({ reauthenticateInterval = "30s" }: AuthenticationOptions): number {
  return positiveMs(reauthenticateInterval, "reauthenticateInterval");
}

function positiveMs(duration: Duration, name: string): number {
  const ms = durationMs(duration, name);
  if (ms > 0) return ms;
  throw new PawlError("option_invalid", `\`${name}\` must be more than 0.`);
}

/**
 * The credential of a request for the application: all headers except those that differ between two tabs of one
 * browser. As a digest, since it is kept as long as a stream is open.
 */
export function credentialOf({ url, headers }: Request): string {
  const { pathname, searchParams } = new URL(url);
  searchParams.delete("instance");
  const sent = [...headers].filter(([name]) => !varying.includes(name));
  return createHash("sha256")
    .update(JSON.stringify([pathname, [...searchParams], sent]))
    .digest("base64");
}

const varying = ["referer", "last-event-id", "content-length"];

/**
 * Returns the principal of a request, by the application's `authenticate`. If that throws, takes too long or returns an
 * invalid value, the cause is logged, and the request is refused with 503, which a client may retry.
 */
export async function authenticateBy(
  pawl: Pawl,
  request: Request,
  options: AuthenticationOptions,
): Promise<Principal | undefined> {
  const { authenticate } = options;
  if (authenticate === undefined) return undefined;
  try {
    const found = await settleWithin(authenticationLimitMs(options), "It", () => authenticate(request));
    if (request.bodyUsed)
      throw new PawlError(
        "hook_failed",
        "It consumed the body of the request. Read the body of `request.clone()` instead.",
      );
    return checkedResult(found);
  } catch (error) {
    const failure = new PawlError(
      "not_available",
      `\`authenticate\` failed, and the request was refused: ${messageOf(error)}`,
      {},
      { cause: error },
    );
    logFailure(logOf(pawl), failure);
    throw failure;
  }
}

/** A copy that holds nothing else; null means unknown, too. */
function checkedResult(found: unknown): Principal | undefined {
  if (found === undefined || found === null) return undefined;
  if (typeof found !== "object")
    throw new PawlError("hook_failed", "It must return { name, role, labeler }, or undefined.");
  const { name, role, labeler = null } = found as Partial<Principal>;
  if (!isRole(role)) throw new PawlError("hook_failed", `The \`role\` must be one of ${roles.join(", ")}.`);
  return {
    name: checkedText(name, "The `name`"),
    role,
    labeler: labeler === null ? null : checkedText(labeler, "The `labeler`"),
  };
}
