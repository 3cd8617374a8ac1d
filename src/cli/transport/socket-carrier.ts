import { once } from "node:events";
import { lstat } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { dirname } from "node:path";
import { PawlError } from "../../base/errors.ts";
import type { Carrier, OutgoingRequest } from "./client.ts";

/** A process that is silent for this long hangs. */
const answeredWithinMs = 60_000;

/**
 * The Pawl that runs in another process of this machine, by its local socket; undefined when nothing listens there.
 * Throws `not_allowed` for a socket that another user could have put there.
 */
export async function overSocket(path: string): Promise<Carrier | undefined> {
  await refuseForeign(path);
  if (!(await isListening(path))) return undefined;
  return { place: path, send: (outgoing) => exchange(path, outgoing) };
}

/**
 * A user with write access to the folder of a socket can replace it, and receive everything that is sent to Pawl.
 * Windows has pipes instead, with their own permissions.
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

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** One request on a connection of its own: a connection that is kept may be closed just when it is used again. */
async function exchange(socketPath: string, { method, path, body, isPatient }: OutgoingRequest): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const sent = request({ socketPath, method, path, headers, agent: false });
  const timer = isPatient ? undefined : setTimeout(() => sent.destroy(), answeredWithinMs);
  try {
    sent.on("error", () => {}); // The first one is seen below; one that follows changes nothing.
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return new Response(Buffer.concat(chunks), {
      status: response.statusCode!,
      headers: { "content-type": response.headers["content-type"] ?? "" },
    });
  } catch {
    throw new PawlError(
      "outcome_unknown",
      "The running Pawl did not respond. Check whether the request took effect before you repeat it.",
    );
  } finally {
    clearTimeout(timer);
  }
}
