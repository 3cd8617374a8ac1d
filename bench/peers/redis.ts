import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { foldersWith, run } from "../../test/setup/find-program.ts";
import { freePort, keepServer, makeFolder, removeFolder } from "../../test/setup/keep.ts";

export interface RedisServer {
  readonly url: string;
  readonly version: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A Redis of one's own, as durable as BullMQ's page on production asks for; undefined where none is installed. */
export async function startRedis(): Promise<RedisServer | undefined> {
  const bin = foldersWith("redis-server", [])[0];
  if (bin === undefined) return undefined;
  const { stdout } = await run(join(bin, "redis-server"), ["--version"]);
  const folder = makeFolder();
  const port = await freePort();
  const durability = ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""];
  const pidFile = join(folder, "redis.pid");
  const place = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--pidfile", pidFile];
  const kept = keepServer(folder, "KILL", [join(bin, "redis-server"), ...place, ...durability]);
  for (let tries = 0; !(await answers(port)); tries++) {
    if (kept.isGone() || tries > 300) throw new Error(`Redis did not start:\n${kept.log().slice(-1_000)}`);
    await pause(20);
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    version: /v=([\d.]+)/.exec(stdout)?.[1] ?? "unknown",
    pid: Number(readFileSync(pidFile, "utf8")),
    async stop() {
      kept.send("KILL");
      await kept.gone;
      await removeFolder(folder);
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("data", (data) => end(data.toString().startsWith("+PONG")));
    socket.once("error", () => end(false));
  });
}
