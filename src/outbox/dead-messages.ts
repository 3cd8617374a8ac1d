import { randomUUID } from "node:crypto";
import { PawlError } from "../base/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { pause } from "../kernel/pause.ts";
import { outboxTopic } from "../kernel/signals/signals.ts";
import type { Decider } from "../store/recovery/dead-letters.ts";
import {
  type DeadFilter,
  type DeadMessage,
  discardMessages,
  readDeadMessages,
  requeueMessages,
} from "./store/dead-messages.ts";
import { followersAtOnce, leaseTheseShards, type ShardLease, settleMessages } from "./store/outbox.ts";

export type Decision = "requeue" | "discard";

const pageSize = 500;
const leaseMs = 15_000;
const patienceMs = 60_000;
const noActor: Decider = { actor: null, reason: null };

/**
 * Requeues or discards dead messages, each once; returns how many. Requires the lease of their shards, which a relay
 * may hold for a moment.
 */
export async function decideDeadMessages(
  kernel: Kernel,
  filter: DeadFilter,
  decision: Decision,
  by: Decider = noActor,
): Promise<number> {
  let decided = 0;
  for (let after = 0; ; ) {
    const page = await readDeadMessages(kernel.db, filter, { after, limit: pageSize });
    if (page.length === 0) break;
    decided += await decideAll(kernel, page, decision, by);
    after = page.at(-1)!.position;
  }
  if (decided > 0) kernel.signals.hint(outboxTopic);
  return decided;
}

async function decideAll(
  kernel: Kernel,
  dead: readonly DeadMessage[],
  decision: Decision,
  by: Decider,
): Promise<number> {
  const relay = `operator-${randomUUID()}`;
  const open = new Set(dead);
  let decided = 0;
  for (const endAt = performance.now() + patienceMs; open.size > 0; ) {
    const shards = [...new Set([...open].map((one) => one.shard))];
    const lease = await leaseTheseShards(kernel.db, { relay, shards, leaseMs });
    if (lease === undefined) {
      if (performance.now() > endAt) throw shardsBusy();
      await pause(50);
      continue;
    }
    const ours = [...open].filter((one) => lease.shards.includes(one.shard));
    decided += await decideUnder(kernel, lease, ours, decision, by);
    for (const one of ours) open.delete(one);
  }
  return decided;
}

async function decideUnder(
  kernel: Kernel,
  lease: ShardLease,
  dead: readonly DeadMessage[],
  decision: Decision,
  by: Decider,
): Promise<number> {
  const ids = dead.map((one) => one.id);
  const decided =
    decision === "requeue"
      ? await requeueMessages(kernel.db, lease.token, ids, by)
      : await discardMessages(kernel.db, lease.token, ids, by, followersAtOnce);
  await settleMessages(kernel.db, lease.token, [], followersAtOnce);
  return decided.length;
}

function shardsBusy(): PawlError {
  return new PawlError("busy", "Could not lock the outbox: relays are using its shards. Try again later.");
}
