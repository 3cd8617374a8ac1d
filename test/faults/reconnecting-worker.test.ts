import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { openBehindProxy } from "./behind-proxy.ts";
import { errand } from "./errand.ts";

describe("a worker whose database goes away", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test("R84 connecting opens PostgreSQL, and opens it again after it was lost", async () => {
    await using t = await openBehindProxy(server.url);
    const moves: string[] = [];
    const waiting = new Map<string, () => void>();
    const moved = (move: string) => new Promise<void>((resolve) => waiting.set(move, resolve));
    const idle = moved("Backoff → Idle");
    const worker = t.pawl.work({
      onMove: ({ from, to }) => {
        moves.push(`${from} → ${to}`);
        waiting.get(moves.at(-1)!)?.();
      },
      onFailure: () => {},
      poll: 20,
    });
    await idle;
    expect(moves.slice(0, 3)).toEqual(["Startup → Connecting", "Connecting → Recovery", "Recovery → Polling"]);
    const lost = Promise.race(["Polling", "Recovery"].map((state) => moved(`${state} → ErrorWait`)));
    const again = moved("Connecting → ErrorWait");
    t.proxy.refuse = Number.POSITIVE_INFINITY;
    t.proxy.cutAll();
    await lost;
    await again;
    t.proxy.refuse = 0;
    const back = moved("Connecting → Recovery");
    await back;
    const { id } = await t.pawl.start(errand, {});
    await t.pawl.send(errand, { id }, "sent_to_work");
    await t.pawl.wait(errand, { id }, { until: "ready" });
    await worker.stop();
  }, 60_000);
});
