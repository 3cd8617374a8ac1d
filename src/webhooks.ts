export type { Alert, AlertSink } from "./alerts/sink.ts";
export { type WebhookAlertsOptions, webhookAlerts } from "./alerts/webhook-alerts.ts";
export type { AlertKind } from "./kernel/recovery/alert-of-dead-letter.ts";
export type { Broker, OutboxMessage } from "./outbox/broker.ts";
export type { GuardOptions } from "./outbox/brokers/webhooks/guard-options.ts";
export {
  signWebhook,
  verifyWebhook,
  type WebhookFault,
  type WebhookHeaders,
} from "./outbox/brokers/webhooks/signature.ts";
export {
  type WebhookEndpoint,
  type WebhooksBroker,
  type WebhooksOptions,
  webhooks,
} from "./outbox/brokers/webhooks/webhooks.ts";
