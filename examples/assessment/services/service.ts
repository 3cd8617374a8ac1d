import { type Answer, type Listener, listen, type Request } from "./listen.ts";
import type { Trouble } from "./trouble.ts";

/** What a service does. */
export interface Doing {
  readonly name: string;
  /** What a request is about, for the faults. */
  subject(request: Request): string;
  /** Done once for each idempotency key; whoever asks again gets the same answer. */
  answer(request: Request): unknown;
  /** Somebody asks again. */
  again?(request: Request): void;
  /** It dies over the request. Unless it has a way of its own to do so, the line drops before anything was done. */
  crash?(request: Request): unknown;
}

/** A service that recognises repeated requests, and that refuses, hangs and crashes when `trouble` says so. */
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
