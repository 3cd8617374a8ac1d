import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** Speaks just enough of the protocol to accept a client and to send it a version. */
export async function oldServer(
  versionNumber: string,
): Promise<{ url: string; [Symbol.asyncDispose](): Promise<void> }> {
  const server: Server = createServer((socket) => answer(socket, versionNumber));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://ada@127.0.0.1:${port}/post`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

function answer(socket: Socket, versionNumber: string): void {
  socket.on("error", () => {});
  socket.once("data", () => {
    socket.write(Buffer.concat([message("R", int32(0)), message("Z", Buffer.from("I"))]));
    socket.on("data", (sent) => {
      if (sent[0] === "X".charCodeAt(0)) socket.end();
      else socket.write(oneRow(versionNumber));
    });
  });
}

function oneRow(text: string): Buffer {
  const column = Buffer.concat([
    Buffer.from("version\0"),
    int32(0),
    int16(0),
    int32(23),
    int16(4),
    int32(-1),
    int16(0),
  ]);
  return Buffer.concat([
    message("T", Buffer.concat([int16(1), column])),
    message("D", Buffer.concat([int16(1), int32(text.length), Buffer.from(text)])),
    message("C", Buffer.from("SELECT 1\0")),
    message("Z", Buffer.from("I")),
  ]);
}

function message(kind: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}
