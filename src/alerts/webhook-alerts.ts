import type { Duration } from "../base/duration.ts";
import { checkedOptions, optionNames } from "../base/options.ts";
import type { GuardOptions } from "../outbox/brokers/webhooks/guard-options.ts";
import { webhooks } from "../outbox/brokers/webhooks/webhooks.ts";
import type { AlertSink } from "./sink.ts";

export interface WebhookAlertsOptions extends GuardOptions {
  readonly url: string;
  /** `whsec_…`, newest first. During a rotation, alerts are signed with all of them. */
  readonly secrets: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The name of the sink. Defaults to `"webhook"`. */
  readonly name?: string;
  /** Time limit of a request, 30 s at most. Defaults to `"15s"`. */
  readonly timeout?: Duration;
  /** Certificates to trust instead of Node's own. */
  readonly ca?: string | Uint8Array;
}

const known = optionNames<WebhookAlertsOptions>({
  url: true,
  secrets: true,
  headers: true,
  name: true,
  timeout: true,
  ca: true,
  allowHttp: true,
  ports: true,
  allowedNetworks: true,
});

/**
 * Posts alerts as `{ type: "pawl.alert", timestamp, data }`, signed according to Standard Webhooks. A repeated delivery
 * has the same `webhook-id`.
 *
 * ```ts
 * alerts: [webhookAlerts({ url: "https://ops.example.com/pawl", secrets: [process.env.ALERT_SECRET!] })]
 * ```
 */
export function webhookAlerts(given: WebhookAlertsOptions): AlertSink {
  const { url, secrets, headers, name = "webhook", ...options } = checkedOptions(given, known, "webhookAlerts");
  const poster = webhooks({ ...options, endpoint: { id: name, url, secrets, ...(headers && { headers }) } });
  return {
    name,
    async send({ at, ...alert }) {
      const aggregate = { type: alert.lifecycle, id: alert.instanceId ?? alert.cause };
      const body = JSON.stringify({ ...alert, at: at.toISOString() });
      await poster.publish({
        id: alert.id,
        type: "pawl.alert",
        aggregate,
        body,
        createdAt: at,
        version: null,
        attempt: 1,
      });
    },
    close: () => poster.close(),
  };
}
