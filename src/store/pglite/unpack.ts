import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";

const block = 512;

/** What `dump` gave, without its compression if it has one. */
export function unzip(snapshot: Uint8Array): Buffer {
  const bytes = Buffer.from(snapshot.buffer, snapshot.byteOffset, snapshot.byteLength);
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}

/** Writes a snapshot's files straight to the disk: through the engine's own file system it takes a second longer. */
export function unpack(tar: Buffer, folder: string): void {
  let files = 0;
  for (let at = 0; at + block <= tar.length && tar[at] !== 0; ) {
    const name = textAt(tar, at, 100);
    const size = Number.parseInt(textAt(tar, at + 124, 12), 8);
    if (textAt(tar, at + 257, 5) !== "ustar" || Number.isNaN(size) || name.split("/").includes("..")) break;
    const path = join(folder, name);
    if (tar[at + 156] === 0x35) mkdirSync(path, { recursive: true, mode: 0o700 });
    else {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, tar.subarray(at + block, at + block + size), { mode: 0o600 });
      files++;
    }
    at += block + Math.ceil(size / block) * block;
  }
  if (files === 0) throw new Error("the snapshot is not one that Pawl made");
}

function textAt(tar: Buffer, start: number, length: number): string {
  const end = tar.indexOf(0, start);
  return tar.toString("utf8", start, end === -1 ? start + length : Math.min(end, start + length));
}
