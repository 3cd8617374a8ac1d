import { createHmac, timingSafeEqual } from "node:crypto";
import { PawlError } from "../../../base/errors.ts";

/**
 * Signatures of webhooks as Standard Webhooks has them: HMAC-SHA256 over `id.timestamp.body`, one for each secret, so that
 * a secret can be replaced while both are in use.
 */
export interface WebhookHeaders {
  readonly "webhook-id": string;
  /** Seconds since 1970. */
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

const prefix = "whsec_";
const shortest = 24;
const longest = 64;
const version = "v1";
const toleranceMs = 5 * 60_000;

/** The bytes of a secret, `whsec_` and 24 to 64 of them in base64; throws `option_invalid` without a word of the secret. */
export function webhookKey(secret: unknown): Uint8Array {
  const text = typeof secret === "string" ? secret.slice(secret.startsWith(prefix) ? prefix.length : 0) : "";
  const key = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
  if (key.length >= shortest && key.length <= longest) return key;
  throw new PawlError(
    "option_invalid",
    `A webhook's secret must be \`${prefix}\` and ${shortest} to ${longest} random bytes in base64. Generate them with: openssl rand -base64 32`,
  );
}

/** The headers for a body. The newest secret comes first; a receiver needs only one of them. */
export function signWebhook(
  webhook: { readonly id: string; readonly atMs: number; readonly body: string },
  secrets: readonly string[],
): WebhookHeaders {
  const timestamp = String(Math.floor(webhook.atMs / 1_000));
  const signatures = secrets.map((secret) => {
    const signature = hmac(webhookKey(secret), webhook.id, timestamp, webhook.body);
    return `${version},${signature.toString("base64")}`;
  });
  return {
    "webhook-id": webhook.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

/** Why a received webhook is invalid; `undefined` if it is signed with a known secret, and recent. */
export type WebhookFault = "headers_missing" | "timestamp_invalid" | "too_old" | "too_new" | "signature_wrong";

/**
 * Verifies a webhook over its raw body: parsed and serialized JSON has other bytes. Takes the same time for every
 * secret, and does not reveal how much of a signature was right.
 */
export function verifyWebhook(
  webhook: {
    readonly headers: { readonly [name in keyof WebhookHeaders]?: string | undefined };
    readonly body: string | Uint8Array;
    readonly nowMs: number;
  },
  secrets: readonly string[],
): WebhookFault | undefined {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = webhook.headers;
  if (!id || !timestamp || !signatures) return "headers_missing";
  if (!/^\d{1,12}$/.test(timestamp)) return "timestamp_invalid";
  const ageMs = webhook.nowMs - Number(timestamp) * 1_000;
  if (ageMs > toleranceMs) return "too_old";
  if (ageMs < -toleranceMs) return "too_new";
  const expected = secrets.map((secret) => hmac(webhookKey(secret), id, timestamp, webhook.body));
  let isKnown = false;
  for (const given of signatures.split(" ").slice(0, 20)) {
    if (!given.startsWith(`${version},`)) continue;
    const signature = Buffer.from(given.slice(version.length + 1), "base64");
    for (const one of expected) {
      if (signature.length === one.length && timingSafeEqual(signature, one)) isKnown = true;
    }
  }
  return isKnown ? undefined : "signature_wrong";
}

function hmac(key: Uint8Array, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
}
