import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { messageOf, PawlError } from "../../base/errors.ts";
import { dispatch, type ErrorAnswer, errorAnswer } from "../../http/dispatch.ts";
import { idIn, maxRequestBytes, parseRequest, type Request } from "../../http/request.ts";
import type { Pawl } from "../../pawl.ts";
import { LineCutter, tooLong } from "./lines.ts";

/** The answer to one line, by the id of its request; null where the id could not be read. */
export type Answer = { readonly id: Request["id"] } & ({ readonly ok: unknown } | { readonly error: ErrorAnswer });

/** Systems cut a socket's path at 104 or 108 bytes. */
const longestPathBytes = 100;

/**
 * Answers the verbs of a Pawl on a socket that only its owner can open: one JSON request a line, one JSON answer a
 * line. The caller has the folder's lock, so a socket file that is there already was left by a process that is gone.
 */
export async function listenLocally(pawl: Pawl, folder: string, url?: string): Promise<LocalSocket> {
  if (process.platform === "win32") return await LocalSocket.open(pawl, { path: pipeName(folder), url });
  const beside = join(folder, "db.sock");
  if (Buffer.byteLength(beside) <= longestPathBytes) {
    removeStale(beside);
    return await LocalSocket.open(pawl, { path: beside, url });
  }
  const home = mkdtempSync(join(tmpdir(), "pawl-")); // For its owner alone, and short.
  return await LocalSocket.open(pawl, { path: join(home, "db.sock"), home, url });
}

function pipeName(folder: string): string {
  return `\\\\.\\pipe\\pawl-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
}

function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    const why = "is in the way of Pawl's socket, and is no socket itself; move it elsewhere";
    throw new PawlError("folder_unusable", `${path} ${why}.`, { folder: dirname(path) });
  }
  rmSync(path);
}

interface Place {
  readonly path: string;
  /** A folder that was made for the socket alone. */
  readonly home?: string;
  /** Where the same Pawl answers over HTTP. */
  readonly url: string | undefined;
}

export class LocalSocket {
  readonly path: string;
  readonly #pawl: Pawl;
  readonly #server: Server;
  readonly #home: string | undefined;
  readonly #url: string | undefined;
  readonly #clients = new Map<Socket, AbortController>();
  readonly #underWay = new Set<Promise<void>>();

  private constructor(pawl: Pawl, { path, home, url }: Place) {
    this.path = path;
    this.#pawl = pawl;
    this.#home = home;
    this.#url = url;
    this.#server = createServer((client) => this.#serve(client));
  }

  static async open(pawl: Pawl, place: Place): Promise<LocalSocket> {
    const { path } = place;
    const socket = new LocalSocket(pawl, place);
    try {
      await listen(socket.#server, path);
    } catch (error) {
      throw new PawlError("folder_unusable", `The socket ${path} cannot be opened: ${messageOf(error)}.`, { path });
    }
    return socket;
  }

  /** Takes no more requests, lets those under way come to their end, and removes the file. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const waiting of this.#clients.values()) waiting.abort(new PawlError("closed", "This Pawl is being stopped."));
    await Promise.all(this.#underWay);
    for (const client of this.#clients.keys()) client.end(() => client.destroy());
    await closed;
    if (process.platform !== "win32") rmSync(this.path, { force: true });
    if (this.#home !== undefined) rmSync(this.#home, { recursive: true, force: true });
  }

  #serve(client: Socket): void {
    const lines = new LineCutter(maxRequestBytes);
    const waiting = new AbortController();
    this.#clients.set(client, waiting);
    client.on("error", () => {}); // Its end follows, and is all that matters.
    client.on("close", () => {
      this.#clients.delete(client);
      waiting.abort(new PawlError("closed", "The client is gone."));
    });
    client.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk)) {
        const answered = this.#answer(line, waiting.signal).then((answer) => {
          if (!client.destroyed) client.write(`${JSON.stringify(answer)}\n`);
        });
        this.#underWay.add(answered);
        void answered.finally(() => this.#underWay.delete(answered));
      }
    });
  }

  /** Never fails: whatever a line holds, its sender gets an answer and the others notice nothing. */
  async #answer(line: string | typeof tooLong, signal: AbortSignal): Promise<Answer> {
    if (line === tooLong) {
      return { id: null, error: errorAnswer(new PawlError("option_invalid", "A request must not exceed 1 MiB.")) };
    }
    try {
      const request = parseRequest(line);
      return { id: request.id, ok: await dispatch(this.#pawl, request, { signal, url: this.#url }) };
    } catch (error) {
      return { id: idIn(line), error: errorAnswer(error) };
    }
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // The file is made inside `listen`, and must at no moment be open to others.
    const before = process.umask(0o177);
    try {
      server.listen(path, () => {
        server.off("error", reject);
        if (process.platform !== "win32") chmodSync(path, 0o600);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
}
