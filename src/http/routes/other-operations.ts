import {
  about,
  anything,
  flag,
  id,
  listOf,
  named,
  nothing,
  oneOf,
  orNull,
  record,
  type Schema,
  shape,
  text,
} from "../api/schema.ts";
import type { ReceivedAnswer, SessionAnswer } from "../contract.ts";
import { callbackStatus } from "./callbacks.ts";

/** An operation that is no row of the table: it is mounted where it is answered, and listed here for the document alone. */
export interface OtherOperation {
  readonly method: "get" | "post" | "delete";
  readonly path: string;
  readonly operation: string;
  readonly tag: string;
  readonly summary: string;
  /** The right that is needed; null where whoever comes is answered. */
  readonly may: "look" | null;
  readonly inPath?: Readonly<Record<string, string>>;
  readonly inQuery?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  readonly repeats?: true;
  /** JSON unless said otherwise. */
  readonly type?: string;
  readonly answers: Schema;
}

const session = named(
  "Session",
  shape<SessionAnswer>({
    name: text,
    role: oneOf("viewer", "operator", "admin", "labeler", "service"),
    labeler: orNull(text),
    may: listOf(oneOf("look", "send", "operate", "label", "administer")),
  }),
);

const taken = shape<Pick<ReceivedAnswer, "accepted" | "late" | "id" | "status"> & { reason?: string }>(
  { accepted: flag, late: flag, id, status: callbackStatus, reason: text },
  ["reason"],
);

const brought = shape<{ payload?: unknown; error?: unknown; dedupeKey?: string }>(
  {
    payload: about(anything, "The result; or else an error."),
    error: about(record, "The word that it failed: `message`, and if wanted `name` and `code`."),
    dedupeKey: about(text, "What tells it from others; unless given, the same content is the same callback."),
  },
  ["payload", "error", "dedupeKey"],
);

export const otherOperations: readonly OtherOperation[] = [
  {
    method: "post",
    path: "/callbacks/{token}",
    operation: "bringCallback",
    tag: "Callbacks",
    summary: "Bring a result with a token that a step has handed out: it says which instance and which event is meant.",
    may: null,
    inPath: { token: "What `step.callbackToken()` gave; or `/callbacks` with `Authorization: Bearer <token>`." },
    body: brought,
    repeats: true,
    answers: taken,
  },
  {
    method: "get",
    path: "/api/live",
    operation: "live",
    tag: "Lifecycles",
    summary: "A stream of what changes, as server-sent events: counts, rates, alerts, and the moves of one instance.",
    may: "look",
    inQuery: { instance: about(id, "Of which every move is told.") },
    type: "text/event-stream",
    answers: text,
  },
  {
    method: "get",
    path: "/api/session",
    operation: "session",
    tag: "Access",
    summary: "Who asks, and what he may do.",
    may: null,
    answers: session,
  },
  {
    method: "post",
    path: "/api/session",
    operation: "signIn",
    tag: "Access",
    summary: "Sign a browser in with a token, for twelve hours.",
    may: null,
    body: shape<{ token: string }>({ token: text }),
    answers: session,
  },
  {
    method: "delete",
    path: "/api/session",
    operation: "signOut",
    tag: "Access",
    summary: "End the session of a browser.",
    may: null,
    answers: nothing,
  },
  {
    method: "get",
    path: "/health",
    operation: "health",
    tag: "Service",
    summary: "Answers while the process lives.",
    may: null,
    answers: shape<{ status: string }>({ status: oneOf("ok") }),
  },
  {
    method: "get",
    path: "/ready",
    operation: "ready",
    tag: "Service",
    summary: "Answers while the database does, too.",
    may: null,
    answers: shape<{ status: string }>({ status: oneOf("ready") }),
  },
  {
    method: "get",
    path: "/metrics",
    operation: "metrics",
    tag: "Service",
    summary: "Measures for Prometheus. Where the server has a token of its own, it is asked for.",
    may: null,
    type: "text/plain",
    answers: text,
  },
];
