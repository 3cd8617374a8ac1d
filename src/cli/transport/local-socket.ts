import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Pawl } from "../../api/pawl.ts";
import { messageOf, PawlError } from "../../base/errors.ts";
import { localApp } from "../../http/app.ts";
import { serverFor } from "../../http/serve.ts";

export interface LocalSocket {
  readonly path: string;
  /** Stops accepting requests, waits for those in progress, and removes the file. */
  close(): Promise<void>;
}

/** Systems cut a socket's path at 104 or 108 bytes. */
const longestPathBytes = 100;

/**
 * Serves the API of a Pawl on a socket that only its owner can open. The caller has the folder's lock, so an existing
 * socket file was left by a process that is gone.
 */
export async function listenLocally(pawl: Pawl, folder: string, url?: string): Promise<LocalSocket> {
  const { path, home } = placeFor(folder);
  const { server, close } = serverFor((ends) => localApp(pawl, { ends, url }));
  try {
    await listen(server, path);
  } catch (error) {
    throw new PawlError("folder_unusable", `The socket ${path} cannot be opened: ${messageOf(error)}.`, { path });
  }
  return {
    path,
    async close() {
      await close();
      if (process.platform !== "win32") rmSync(path, { force: true });
      if (home !== undefined) rmSync(home, { recursive: true, force: true });
    },
  };
}

interface Place {
  readonly path: string;
  /** A folder that was made for the socket alone. */
  readonly home?: string;
}

function placeFor(folder: string): Place {
  if (process.platform === "win32") return { path: pipeName(folder) };
  const inFolder = join(folder, "db.sock");
  if (Buffer.byteLength(inFolder) <= longestPathBytes) {
    removeStale(inFolder);
    return { path: inFolder };
  }
  const home = mkdtempSync(join(tmpdir(), "pawl-")); // For its owner alone, and short.
  return { path: join(home, "db.sock"), home };
}

function pipeName(folder: string): string {
  return `\\\\.\\pipe\\pawl-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
}

function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    const why = "is not a socket, but has the path that Pawl's socket needs; move it elsewhere";
    throw new PawlError("folder_unusable", `${path} ${why}.`, { folder: dirname(path) });
  }
  rmSync(path);
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
