import { randomUUID } from "node:crypto";
import { PawlError } from "../base/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { pause } from "../kernel/pause.ts";
import { outboxTopic } from "../kernel/signals.ts";
import type { Decider } from "../store/recovery/dead-letters.ts";
import {
  type DeadFilter,
  type DeadMessage,
  discardMessages,
  readDeadMessages,
  requeueMessages,
} from "./store/dead-messages.ts";
import {
  leaseShards,
  leaseTheseShards,
  type MessageOutcome,
  promoteMessages,
  pruneMessages,
  type ReadyMessage,
  readReadyMessages,
  type ShardLease,
  settleMessages,
  shardCount,
} from "./store/outbox.ts";

export { type MessageOutcome, type ReadyMessage, type ShardLease, shardCount };

/** Messages that wait behind one that was sent are let go so many at a time. */
const followersAtOnce = 100;

/** Leases shards that have something to send; undefined when nothing is to be had. */
export async function takeShards(
  kernel: Kernel,
  lease: { relay: string; atMost: number; leaseMs: number },
): Promise<ShardLease | undefined> {
  const taken = await leaseShards(kernel.db, lease);
  if (kernel.faults !== undefined) await kernel.faults.at("relay.afterLock");
  return taken;
}

/** What there is to send in leased shards. A statement of its own, after the one that leased them. */
export function readReady(kernel: Kernel, lease: ShardLease, limit: number): Promise<ReadyMessage[]> {
  return readReadyMessages(kernel.db, lease.shards, limit);
}

/**
 * Writes down what became of messages, and gives their shards back. False when the lease was lost: then another relay
 * sends them again. Said twice it changes nothing: after a lost reply the caller simply repeats it.
 */
export async function settle(kernel: Kernel, lease: ShardLease, outcomes: readonly MessageOutcome[]): Promise<boolean> {
  const { held } = await settleMessages(kernel.db, lease.token, outcomes, followersAtOnce);
  if (kernel.faults !== undefined) await kernel.faults.at("relay.afterMark");
  return held;
}

/** Lets messages go again whose pause is over. */
export function promoteDue(kernel: Kernel, limit: number): Promise<number> {
  return promoteMessages(kernel.db, limit);
}

/** Removes what was sent long ago. */
export function pruneSent(kernel: Kernel, keepMs: number, limit: number): Promise<number> {
  return pruneMessages(kernel.db, keepMs, limit);
}

export type Decision = "requeue" | "discard";

const pageSize = 500;
const leaseMs = 15_000;
const patienceMs = 60_000;
const nobody: Decider = { actor: null, reason: null };

/**
 * Requeues or discards dead messages, each once; gives back how many. As everything that is said of a message, it is said
 * under the lease of its shard, which a relay may have for a moment.
 */
export async function decideDead(
  kernel: Kernel,
  filter: DeadFilter,
  decision: Decision,
  by: Decider = nobody,
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
  return new PawlError("busy", "The relays that send these messages do not let go of them. Try again later.");
}
