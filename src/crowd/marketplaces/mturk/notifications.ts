import { messageOf, PawlError } from "../../../base/errors.ts";

/** A notification of Mechanical Turk. It may arrive twice, late, out of order or never. */
export interface MturkNotification {
  /** The same each time it is delivered. */
  readonly id: string;
  /** Such as `AssignmentSubmitted`, `HITReviewable` or `HITExpired`. */
  readonly event: string;
  /** The job that it is about, by its id there. */
  readonly job: string;
  /** The submission that it is about, if it is about one. */
  readonly submission?: string;
}

/**
 * Reads the events in a message of SQS or SNS: its body, with or without the envelope of SNS. One message can have
 * several events; a test message has none. They are hints only: sync the job that they name.
 *
 * ```ts
 * for (const { job } of mturkNotifications(message.Body)) await pawl.crowd.handleNotification("mturk", job);
 * ```
 */
export function mturkNotifications(body: string): readonly MturkNotification[] {
  const { EventDocId: document, Events: events } = unwrapped(body);
  if (typeof document !== "string" || document === "" || !Array.isArray(events)) {
    throw invalid("it has no `EventDocId`, or no list of `Events`");
  }
  return events.flatMap((event: unknown, index) => {
    const { EventType, HITId, AssignmentId } = objectOf(event, `Event ${index}`);
    if (EventType === "Ping") return [];
    if (typeof EventType !== "string" || typeof HITId !== "string" || HITId === "") {
      throw invalid(`event ${index} has no \`EventType\`, or no \`HITId\``);
    }
    const submission = typeof AssignmentId === "string" && AssignmentId !== "" ? { submission: AssignmentId } : {};
    return [{ id: `${document}:${index}`, event: EventType, job: HITId, ...submission }];
  });
}

function unwrapped(body: string): Readonly<Record<string, unknown>> {
  const outer = parsed(body);
  return typeof outer.Message === "string" && outer.Events === undefined ? parsed(outer.Message) : outer;
}

function parsed(text: unknown): Readonly<Record<string, unknown>> {
  if (typeof text !== "string") throw invalid(`it is a ${typeof text}, not a string`);
  try {
    return objectOf(JSON.parse(text), "It");
  } catch (error) {
    throw error instanceof PawlError ? error : invalid(messageOf(error));
  }
}

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid(`${what} is not an object`);
}

function invalid(why: string): PawlError {
  const text = `This is not a notification of Mechanical Turk: ${why}. Pass the body of a message of its queue or topic.`;
  return new PawlError("payload_invalid", text);
}
