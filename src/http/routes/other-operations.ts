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
import type { ReceivedResponse, SessionResponse } from "../contract.ts";
import { callbackStatus } from "./callbacks.ts";

/** An operation that is no row of the table: it is mounted where it is answered, and listed here for the document alone. */
export interface OtherOperation {
  readonly method: "get" | "post" | "delete";
  readonly path: string;
  readonly operation: string;
  readonly tag: string;
  readonly summary: string;
  /** The required right; null if none. */
  readonly may: "read" | null;
  readonly inPath?: Readonly<Record<string, string>>;
  readonly inQuery?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  readonly repeats?: true;
  /**
   * The media type.
   * @default JSON
   */
  readonly type?: string;
  readonly answers: Schema;
}

const session = named(
  "Session",
  shape<SessionResponse>({
    name: text,
    role: oneOf("viewer", "operator", "admin", "labeler", "service"),
    labeler: orNull(text),
    may: listOf(oneOf("read", "send", "operate", "label", "administer")),
  }),
);

const taken = shape<Pick<ReceivedResponse, "accepted" | "late" | "id" | "status"> & { reason?: string }>(
  { accepted: flag, late: flag, id, status: callbackStatus, reason: text },
  ["reason"],
);

const brought = shape<{ payload?: unknown; error?: unknown; dedupeKey?: string }>(
  {
    payload: about(anything, "The result; omit it to send an error."),
    error: about(record, "The error: `message`, and optionally `name` and `code`."),
    dedupeKey: about(
      text,
      "The sender's id for it. Defaults to a hash of the content, so that equal content is a duplicate.",
    ),
  },
  ["payload", "error", "dedupeKey"],
);

export const otherOperations: readonly OtherOperation[] = [
  {
    method: "post",
    path: "/callbacks/{token}",
    operation: "bringCallback",
    tag: "Callbacks",
    summary: "Receive a result with a token of `step.callbackToken()`, which names the instance and the event.",
    may: null,
    inPath: {
      token: "The return value of `step.callbackToken()`; or use `/callbacks` with `Authorization: Bearer <token>`.",
    },
    body: brought,
    repeats: true,
    answers: taken,
  },
  {
    method: "get",
    path: "/api/live",
    operation: "live",
    tag: "Lifecycles",
    summary: "Stream live updates as server-sent events: counts, rates, alerts, and the moves of one instance.",
    may: "read",
    inQuery: { instance: about(id, "The instance whose moves are streamed.") },
    type: "text/event-stream",
    answers: text,
  },
  {
    method: "get",
    path: "/api/session",
    operation: "session",
    tag: "Access",
    summary: "Get the caller's name, role and rights.",
    may: null,
    answers: session,
  },
  {
    method: "post",
    path: "/api/session",
    operation: "signIn",
    tag: "Access",
    summary: "Sign in a browser with a token, for 12 hours.",
    may: null,
    body: shape<{ token: string }>({ token: text }),
    answers: session,
  },
  {
    method: "delete",
    path: "/api/session",
    operation: "signOut",
    tag: "Access",
    summary: "Sign out: end the session of this browser.",
    may: null,
    answers: nothing,
  },
  {
    method: "get",
    path: "/health",
    operation: "health",
    tag: "Service",
    summary: "Liveness: responds while the process runs.",
    may: null,
    answers: shape<{ status: string }>({ status: oneOf("ok") }),
  },
  {
    method: "get",
    path: "/ready",
    operation: "ready",
    tag: "Service",
    summary: "Readiness: responds while the database is reachable.",
    may: null,
    answers: shape<{ status: string }>({ status: oneOf("ready") }),
  },
  {
    method: "get",
    path: "/metrics",
    operation: "metrics",
    tag: "Service",
    summary: "Metrics for Prometheus. Needs `http.token` if the server has one.",
    may: null,
    type: "text/plain",
    answers: text,
  },
];
