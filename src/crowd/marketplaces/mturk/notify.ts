import type { EventType } from "@aws-sdk/client-mturk";
import { PawlError } from "../../../base/errors.ts";
import type { MarketplaceContext } from "../../marketplace.ts";
import type { MturkNotify } from "./options.ts";
import type { Requester } from "./requester.ts";

/** The events that require a sync. */
const events: EventType[] = [
  "AssignmentSubmitted",
  "AssignmentReturned",
  "AssignmentAbandoned",
  "HITReviewable",
  "HITExpired",
];

/**
 * Subscribes to notifications of HITs. The subscription is by HIT type, which HITs with the same terms share: each type
 * is subscribed once.
 */
export class Notifying {
  readonly #requester: Requester;
  readonly #notify: MturkNotify;
  readonly #subscribed = new Set<string>();

  constructor(requester: Requester, notify: MturkNotify) {
    this.#requester = requester;
    this.#notify = checked(notify);
  }

  async ofType(type: string, call: MarketplaceContext): Promise<void> {
    if (this.#subscribed.has(type)) return;
    const { to, version = "2014-08-15" } = this.#notify;
    const transport = to.startsWith("arn:") ? "SNS" : "SQS";
    const notification = { Destination: to, Transport: transport, Version: version, EventTypes: events } as const;
    await this.#requester.ask("ask to be notified", call, (turk, how) =>
      turk.updateNotificationSettings({ HITTypeId: type, Notification: notification, Active: true }, how),
    );
    this.#subscribed.add(type);
  }
}

function checked(notify: MturkNotify): MturkNotify {
  const { to } = notify;
  if (typeof to === "string" && /^(?:https:\/\/\S+|arn:aws[\w-]*:sns:\S+)$/.test(to)) return notify;
  throw new PawlError("option_invalid", "`notify.to` must be the URL of an SQS queue, or the ARN of an SNS topic.");
}
