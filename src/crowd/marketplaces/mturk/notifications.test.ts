import { expect, test } from "vitest";
import { mturkNotifications } from "./notifications.ts";

const event = { EventTimestamp: "2026-01-01T00:00:00Z", HITTypeId: "3TYPE", HITId: "3HIT" };
const message = JSON.stringify({
  EventDocVersion: "2014-08-15",
  EventDocId: "doc-1",
  CustomerId: "A1",
  Events: [
    { ...event, EventType: "AssignmentSubmitted", AssignmentId: "3ONE" },
    { ...event, EventType: "HITReviewable" },
  ],
});
const told = [
  { id: "doc-1:0", event: "AssignmentSubmitted", job: "3HIT", submission: "3ONE" },
  { id: "doc-1:1", event: "HITReviewable", job: "3HIT" },
];

test("R37 a message tells of each of its events, from a queue or from a topic", () => {
  expect(mturkNotifications(message)).toEqual(told);
  const envelope = { Type: "Notification", MessageId: "m", TopicArn: "arn:aws:sns:us-east-1:1:t", Message: message };
  expect(mturkNotifications(JSON.stringify(envelope))).toEqual(told);
});

test("a test message tells of nothing", () => {
  const ping = { EventDocId: "doc-2", Events: [{ EventType: "Ping", EventTimestamp: "2026-01-01T00:00:00Z" }] };
  expect(mturkNotifications(JSON.stringify(ping))).toEqual([]);
});

const malformed: readonly unknown[] = [
  "",
  "no JSON",
  "[]",
  "null",
  "{}",
  '{"Message":"no JSON"}',
  '{"EventDocId":"d","Events":{}}',
  '{"EventDocId":"d","Events":[null]}',
  '{"EventDocId":"d","Events":[{"EventType":"HITExpired"}]}',
  '{"EventDocId":"d","Events":[{"HITId":"3HIT"}]}',
  undefined,
  { EventDocId: "d", Events: [] },
];
test.each(malformed)("what is no notification is refused: %o", (body) => {
  expect(() => mturkNotifications(body as string)).toThrow(
    expect.objectContaining({ code: "payload_invalid", message: expect.stringContaining("not a notification") }),
  );
});
