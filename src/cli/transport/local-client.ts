import { lstat } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { type ErrorCode, PawlError } from "../../base/errors.ts";
import { LineCutter, tooLong } from "./lines.ts";
import type { Answer } from "./local-socket.ts";

interface Asked {
  readonly resolve: (ok: unknown) => void;
  readonly reject: (error: PawlError) => void;
}

/** A process that is silent for this long hangs. */
const answeredWithinMs = 60_000;

/** What takes as long as it takes: another instance is waited for, or a whole marketplace is read. */
const takeTheirTime: ReadonlySet<string> = new Set(["wait", "reconcileCrowds"]);

/**
 * Whoever can write to the folder of a socket can put their own in its place, and be told everything that is sent to Pawl.
 * Windows has pipes instead, with rights of their own.
 */
async function refuseForeign(path: string): Promise<void> {
  const ownId = process.getuid?.();
  if (ownId === undefined) return;
  for (const [place, mode] of [[dirname(path), 0o022] as const, [path, 0] as const]) {
    const found = await lstat(place).catch(() => undefined);
    if (found === undefined || ((found.uid === ownId || found.uid === 0) && (found.mode & mode) === 0)) continue;
    const message = `The socket ${path} is not trusted: others can write to ${place}, or own it. Run \`chmod go-w\` on the folder, or move the project to one of your own.`;
    throw new PawlError("not_allowed", message, { path });
  }
}

/** Talks to the Pawl that runs in another process, over its local socket. */
export class LocalClient {
  readonly #socket: Socket;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;

  /** Undefined when nobody listens there. Throws `not_allowed` for a socket that another user could have put there. */
  static async connect(path: string): Promise<LocalClient | undefined> {
    await refuseForeign(path);
    return new Promise((resolve) => {
      const socket = connect(path);
      socket.once("error", () => resolve(undefined));
      socket.once("connect", () => resolve(new LocalClient(socket)));
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    const lines = new LineCutter(Number.POSITIVE_INFINITY);
    socket.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk)) if (line !== tooLong) this.#hear(JSON.parse(line) as Answer);
    });
    socket.on("error", () => {});
    socket.on("close", () => this.#fail(lost()));
  }

  /** Asks and waits for the answer. */
  async call(verb: string, args: Readonly<Record<string, unknown>>): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = new Promise<unknown>((resolve, reject) => this.#asked.set(id, { resolve, reject }));
    this.#socket.write(`${JSON.stringify({ id, verb, args })}\n`);
    const timer = takeTheirTime.has(verb) ? undefined : setTimeout(() => this.#socket.destroy(), answeredWithinMs);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #hear(answer: Answer): void {
    // A request whose id could not be read is one of those under way.
    if (answer.id === null && "error" in answer) {
      this.#fail(errorOf(answer.error));
      return;
    }
    const asked = this.#asked.get(Number(answer.id));
    this.#asked.delete(Number(answer.id));
    if ("error" in answer) asked?.reject(errorOf(answer.error));
    else asked?.resolve(answer.ok);
  }

  #fail(error: PawlError): void {
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
  }
}

function errorOf({ code, message, details }: { code: string; message: string; details: unknown }): PawlError {
  return new PawlError(code as ErrorCode, message, details as Record<string, unknown>);
}

function lost(): PawlError {
  return new PawlError(
    "outcome_unknown",
    "The running Pawl gave no answer. Look whether the request took effect before you repeat it.",
  );
}
