import type { Worker } from "node:worker_threads";
import { broken, PawlError } from "../../base/errors.ts";
import type { Answer, Request } from "./thread.ts";
import { DatabaseError, type Reply, readReplies, Writer } from "./wire.ts";

/** Something to run: a script has several statements and no values; a named statement is prepared once. */
export interface Call {
  readonly text: string;
  readonly name: string;
  readonly values: readonly (string | null)[] | undefined;
}

interface Job {
  readonly call: Call;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiter {
  readonly begin: (session: Session) => void;
  readonly reject: (error: unknown) => void;
}

/** The line to itself, until it is ended: a transaction, upkeep, a dump. */
export interface Session {
  run(call: Call): Promise<Reply>;
  ask(request: Exclude<Request, { kind: "run" }>): Promise<Answer>;
  end(): void;
}

/** The maximum number of texts per message to the thread, which share one sync. */
const maxAtOnce = 64;
/**
 * The maximum number of prepared statements: more than Pawl has, and a limit for a user's texts that differ each time.
 */
const maxNames = 1_000;

/**
 * The connection to the thread: there is one, so requests form a queue. Waiting calls go together as one message and
 * are answered in their order; a session has the queue to itself.
 */
export class RequestQueue {
  readonly #worker: Worker;
  readonly #writer = new Writer();
  readonly #waiting: (Job | Waiter)[] = [];
  readonly #inSession: Job[] = [];
  #sent: Job[] = [];
  #asked: { resolve: (answer: Answer) => void; reject: (error: unknown) => void } | undefined;
  #session: Session | undefined;
  #scheduled = false;
  #closed = false;
  #dead: PawlError | undefined;
  /** The statements that are prepared; false while one is being prepared. */
  readonly #names = new Map<string, { text: string; known: boolean }>();
  /** The length of the WAL, and the number of answered calls. */
  walBytes = 0;
  calls = 0;
  onWal: () => void = () => {};

  /** The error of the thread when it failed. */
  lastWords: string | undefined;
  readonly started: Promise<Answer>;
  readonly gone: Promise<void>;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: Answer) => this.#take(answer));
    worker.on("error", (error) => {
      this.lastWords = error.message;
    });
    this.started = new Promise((resolve, reject) => {
      this.#asked = { resolve, reject };
    });
    this.gone = new Promise((resolve) => {
      worker.on("exit", () => {
        this.#die();
        resolve();
      });
    });
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** One call outside any transaction. */
  run(call: Call): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#refuse(reject)) return;
      this.#waiting.push({ call, resolve, reject });
      this.#schedule();
    });
  }

  /** Waits for its turn. */
  session(): Promise<Session> {
    return new Promise((begin, reject) => {
      if (this.#refuse(reject)) return;
      this.#waiting.push({ begin, reject });
      this.#schedule();
    });
  }

  /** The last turn that is given; those before it are kept. */
  lastSession(): Promise<Session> {
    const session = this.session();
    this.#closed = true;
    return session;
  }

  /** Called when texts may give other columns than before. */
  forgetNames(): void {
    this.#names.clear();
  }

  #refuse(reject: (error: unknown) => void): boolean {
    const reason = this.#closed ? closedError() : this.#dead;
    if (reason !== undefined) reject(reason);
    return reason !== undefined;
  }

  /** Later in this same turn of the event loop, so that calls made together go together. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#dead !== undefined || this.#sent.length > 0 || this.#asked !== undefined) return;
    const first = this.#waiting[0];
    if (this.#session === undefined && first !== undefined && "begin" in first) {
      this.#waiting.shift();
      this.#session = this.#newSession();
      first.begin(this.#session);
    }
    this.#sendJobs(this.#session === undefined ? this.#waiting : this.#inSession);
  }

  #sendJobs(from: (Job | Waiter)[]): void {
    const ends: number[] = [];
    const jobs: Job[] = [];
    while (jobs.length < maxAtOnce) {
      const job = from[0];
      if (job === undefined || "begin" in job) break;
      from.shift();
      try {
        this.#write(job.call);
      } catch (error) {
        this.#writer.cut(ends.at(-1) ?? 0);
        job.reject(error);
        continue;
      }
      jobs.push(job);
      ends.push(this.#writer.length);
    }
    if (jobs.length === 0) return;
    this.#sent = jobs;
    const bytes = this.#writer.take();
    this.#post({ kind: "run", bytes, ends, inTransaction: this.#session !== undefined }, [bytes.buffer]);
  }

  #write({ text, name, values }: Call): void {
    const kept = this.#names.get(name);
    if (values === undefined) this.#writer.script(text);
    else if (kept?.known && kept.text === text) this.#writer.prepared(name, values);
    else if (kept === undefined && name !== "" && this.#names.size < maxNames) {
      this.#writer.prepare(name, text, values);
      this.#names.set(name, { text, known: false });
    }
    // It has no name, or the first statement with its name is in progress and may fail.
    else this.#writer.statement(text, values);
  }

  #post(request: Request, transfer: ArrayBuffer[] = []): void {
    this.#worker.ref(); // A process does not end before its answer is there.
    this.#worker.postMessage(request, transfer);
  }

  #take(answer: Answer): void {
    if (answer.kind === "ready") this.walBytes = answer.walBytes;
    if (answer.kind === "failed") this.lastWords = answer.text;
    else if (answer.kind === "ran") this.#takeReplies(answer.bytes, answer.walBytes);
    else if (this.#asked !== undefined) {
      const { resolve } = this.#asked;
      this.#asked = undefined;
      this.#worker.unref();
      resolve(answer);
      this.#schedule();
    }
  }

  #takeReplies(bytes: Uint8Array, walBytes: number): void {
    let count = 0;
    readReplies(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), (reply) => {
      this.#settle(this.#sent[count++]!, reply);
    });
    this.calls += count;
    this.walBytes = walBytes;
    this.#sent.splice(0, count);
    if (this.#sent.length === 0) {
      this.#worker.unref();
      this.#schedule();
    }
    this.onWal();
  }

  #settle({ call, resolve, reject }: Job, reply: Reply): void {
    const kept = this.#names.get(call.name);
    if (kept !== undefined && kept.text === call.text) {
      if (reply.prepared) kept.known = true;
      else if (!kept.known || isForgotten(reply.error)) this.#names.delete(call.name);
    }
    if (reply.error !== undefined) reject(reply.error);
    else if (this.#session === undefined && reply.status !== "idle") {
      reject(broken("A statement outside a transaction began one, and was rolled back.", { text: call.text }));
    } else resolve(reply);
  }

  #newSession(): Session {
    let ended = false;
    const session: Session = {
      run: (call) =>
        new Promise((resolve, reject) => {
          if (this.#dead !== undefined) return reject(this.#dead);
          this.#inSession.push({ call, resolve, reject });
          this.#schedule();
        }),
      ask: (request) =>
        new Promise((resolve, reject) => {
          if (this.#dead !== undefined) return reject(this.#dead);
          this.#asked = { resolve, reject };
          this.#post(request);
        }),
      end: () => {
        if (ended) return;
        ended = true;
        this.#session = undefined;
        this.#schedule();
      },
    };
    return session;
  }

  #die(): void {
    const said = this.lastWords === undefined ? "" : ` (${this.lastWords})`;
    this.#dead = this.#closed
      ? closedError()
      : new PawlError(
          "database_unreachable",
          `The embedded database has ended${said}. Close this Pawl and open it again.`,
        );
    const unknown = new PawlError(
      "outcome_unknown",
      `The embedded database ended${said} before it answered: it is unknown whether this took effect. Close this Pawl, open it again, and check.`,
    );
    for (const { reject } of this.#sent.splice(0)) reject(unknown);
    this.#asked?.reject(unknown);
    for (const { reject } of this.#inSession.splice(0)) reject(this.#dead);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#dead);
  }
}

/** The prepared statement is gone, or its columns changed: `deallocate all`, an altered table. Nothing was executed. */
export function isForgotten(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === "26000" || error.code === "0A000");
}

function closedError(): PawlError {
  return new PawlError("closed", "This Pawl is closed. Create a new one.");
}
