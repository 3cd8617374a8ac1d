import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { signWebhook, verifyWebhook, webhookKey } from "./signature.ts";

// The example of the Standard Webhooks specification's own libraries.
const known = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  atMs: 1_614_265_330_000,
  body: '{"test": 2432232314}',
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const secrets = [newSecret(), newSecret()];
const webhook = { id: "m1", atMs: 1_700_000_000_000, body: '{"n":1}' };

function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

describe("a webhook's signature", () => {
  test("is the one that others compute", () => {
    expect(signWebhook(known, [known.secret])).toEqual({
      "webhook-id": known.id,
      "webhook-timestamp": "1614265330",
      "webhook-signature": known.signature,
    });
  });

  test("comes once for each secret, and any one of them is enough while a secret is replaced", () => {
    const headers = signWebhook(webhook, secrets);
    const received = { headers, body: webhook.body, nowMs: webhook.atMs };
    for (const secret of secrets) expect(verifyWebhook(received, [secret])).toBeUndefined();
    expect(verifyWebhook({ ...received, body: Buffer.from(webhook.body) }, [newSecret(), secrets[1]!])).toBeUndefined();
    expect(verifyWebhook(received, [newSecret()])).toBe("signature_wrong");
    expect(verifyWebhook(received, [])).toBe("signature_wrong");
  });

  const headers = signWebhook(webhook, secrets);
  const now = webhook.atMs;
  const faults: readonly [what: string, given: Parameters<typeof verifyWebhook>[0], fault: string][] = [
    ["another body", { headers, body: '{"n":2}', nowMs: now }, "signature_wrong"],
    ["the same JSON written otherwise", { headers, body: '{ "n": 1 }', nowMs: now }, "signature_wrong"],
    ["another id", { headers: { ...headers, "webhook-id": "m2" }, body: webhook.body, nowMs: now }, "signature_wrong"],
    [
      "a signature cut short",
      { headers: { ...headers, "webhook-signature": "v1,AAAA" }, body: webhook.body, nowMs: now },
      "signature_wrong",
    ],
    [
      "an unknown version",
      { headers: { ...headers, "webhook-signature": "v9,AAAA" }, body: webhook.body, nowMs: now },
      "signature_wrong",
    ],
    ["a replay after five minutes", { headers, body: webhook.body, nowMs: now + 300_001 }, "too_old"],
    ["one from the future", { headers, body: webhook.body, nowMs: now - 301_000 }, "too_new"],
    ["no headers", { headers: {}, body: webhook.body, nowMs: now }, "headers_missing"],
    [
      "a time that is none",
      { headers: { ...headers, "webhook-timestamp": "soon" }, body: webhook.body, nowMs: now },
      "timestamp_invalid",
    ],
  ];
  for (const [what, given, fault] of faults) {
    test(`${what} is refused`, () => {
      expect(verifyWebhook(given, secrets)).toBe(fault);
    });
  }

  test("within five minutes both ways it is taken", () => {
    for (const nowMs of [now - 299_000, now + 299_000]) {
      expect(verifyWebhook({ headers, body: webhook.body, nowMs }, secrets)).toBeUndefined();
    }
  });

  test("a secret that is too short, too long or no base64 is refused, without being told", () => {
    for (const secret of [
      "",
      "whsec_",
      "whsec_c2hvcnQ=",
      `whsec_${randomBytes(65).toString("base64")}`,
      "whsec_päss",
      5,
    ]) {
      const refusal = expect(() => webhookKey(secret));
      refusal.toThrow(expect.objectContaining({ code: "option_invalid" }));
      refusal.not.toThrow(/päss|c2hvcnQ/);
    }
  });
});
