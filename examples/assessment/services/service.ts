import { type Answer, type Listener, listen, type Request } from "./listen.ts";
import type { Trouble } from "./trouble.ts";

/** The work of a service. */
export interface Doing {
  readonly name: string;
  /** The subject of a request, for the faults. */
  subject(request: Request): string;
  /** Done once per idempotency key; a repeated request gets the same answer. */
  answer(request: Request): unknown;
  /** A repeated request. */
  again?(request: Request): void;
  /** The service dies over the request. By default the connection drops before anything was done. */
  crash?(request: Request): unknown;
}

/** A service that recognizes repeated requests, and that refuses, hangs and crashes according to `trouble`. */
export function startService(doing: Doing, trouble: Trouble): Promise<Listener> {
  const answers = new Map<string, unknown>();
  const answerOnce = (request: Request, make: (request: Request) => unknown): unknown => {
    const { idempotencyKey: key } = request;
    if (answers.has(key)) doing.again?.(request);
    else answers.set(key, make(request));
    return answers.get(key);
  };
  return listen((request): Answer => {
    if (request.idempotencyKey === "") return { status: 400, body: { error: "An Idempotency-Key is needed." } };
    const fault = trouble.strike(doing.name, doing.subject(request));
    if (fault === "refuses") return { status: 503, body: { error: `The ${doing.name} has too much to do.` } };
    if (fault === "crashes" && doing.crash === undefined) return "hang up";
    const body = answerOnce(request, (one) => (fault === "crashes" ? doing.crash!(one) : doing.answer(one)));
    return fault === "hangs" ? "silence" : { status: 200, body };
  });
}
