import { type Effect, PermanentError, TransientError } from "pawl";
import { z } from "zod";

/** On whose behalf a call is made: the key by which a service recognises it, and whether its result still counts. */
type Caller = Pick<Effect<unknown>, "idempotencyKey" | "signal">;

type About = { readonly attempt: string; readonly candidate: string };
type Answers = readonly { readonly question: string; readonly code: string }[];
type Code = { readonly solve: string; readonly candidate: string; readonly question: string; readonly code: string };

const Done = z.object({});
const Run = z.object({ runId: z.string() });
const Oddities = z.object({ oddities: z.number() });
const Similarity = z.object({ similarity: z.number() });

/** Where the services are. */
export interface Addresses {
  readonly checker: string;
  readonly plagiarism: string;
  readonly proctoring: string;
  /** Where the code checker is to bring its verdicts. */
  readonly verdicts: string;
}

export type Services = ReturnType<typeof servicesAt>;

const tooLate = new Error("It took too long.");

/** The three services as steps call them. Each is given `patienceMs` to answer. */
export function servicesAt({ checker, plagiarism, proctoring, verdicts }: Addresses, patienceMs = 120_000) {
  /** Broken connections and 5xx answers are transient; other errors of a request are not. */
  async function call<Answer>(
    service: string,
    url: string,
    body: object,
    caller: Caller,
    schema: z.ZodType<Answer>,
  ): Promise<Answer> {
    const { status, text } = await patiently(caller.signal, (signal) => post(url, body, caller, signal)).catch(
      (error: Error) => {
        const why = error === tooLate ? `did not answer within ${patienceMs / 1_000} s` : "broke off";
        throw new TransientError(`The ${service} ${why}.`, { cause: error });
      },
    );
    if (status >= 500) throw new TransientError(`The ${service} answered ${status}.`);
    if (status >= 400) throw new PermanentError(`The ${service} answered ${status}: ${text}`);
    return schema.parse(JSON.parse(text));
  }

  /**
   * Aborts with the caller, or after the timeout. `AbortSignal.any` would do, but Node's garbage collector may drop its
   * timer.
   */
  async function patiently<Result>(
    caller: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const both = new AbortController();
    const stop = () => both.abort(caller.reason);
    caller.addEventListener("abort", stop, { once: true });
    const timer = setTimeout(() => both.abort(tooLate), patienceMs);
    try {
      return await work(both.signal);
    } finally {
      clearTimeout(timer);
      caller.removeEventListener("abort", stop);
    }
  }

  const toIndex = <Answer>(path: string, body: object, caller: Caller, schema: z.ZodType<Answer>) =>
    call("plagiarism index", `${plagiarism}/${path}`, body, caller, schema);
  return {
    checker: {
      submit: (code: Code, caller: Caller) =>
        call("code checker", `${checker}/submit`, { ...code, callback: verdicts }, caller, Run),
    },
    plagiarism: {
      index: (about: About & { answers: Answers }, caller: Caller) => toIndex("index", about, caller, Done),
      compare: (about: About, caller: Caller) => toIndex("compare", about, caller, Similarity),
      forget: (about: About, caller: Caller) => toIndex("forget", about, caller, Done),
    },
    proctoring: {
      analyse: (about: About, caller: Caller) =>
        call("proctoring service", `${proctoring}/analyse`, about, caller, Oddities),
    },
  };
}

async function post(url: string, body: object, { idempotencyKey }: Caller, signal: AbortSignal) {
  const headers = { "content-type": "application/json", "idempotency-key": idempotencyKey };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal });
  return { status: response.status, text: await response.text() };
}
