import { isPawlError } from "../base/errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { pause } from "../kernel/pause.ts";
import type { Delivery } from "./delivery.ts";
import type { RelaySettings } from "./settings.ts";
import {
  followersAtOnce,
  leaseShards,
  type MessageOutcome,
  readReadyMessages,
  type ShardLease,
  settleMessages,
  shardCount,
} from "./store/outbox.ts";

/** The result of a round; `held` is false if the lease was lost: its messages are sent again. */
export interface Round {
  readonly outcomes: readonly MessageOutcome[];
  readonly held: boolean;
}

/**
 * One round of a relay: leases shards, reads their messages, publishes them outside any transaction, and stores the
 * confirmations under the same lease. Undefined if there was nothing to lease.
 */
export async function relayRound(
  kernel: Kernel,
  settings: RelaySettings,
  delivery: Delivery,
  relay: string,
): Promise<Round | undefined> {
  const begun = performance.now();
  const atMost = Math.ceil(shardCount / settings.concurrency);
  const lease = await leaseShards(kernel.db, { relay, atMost, leaseMs: settings.leaseMs });
  if (kernel.faults !== undefined) await kernel.faults.at("relay.afterLock");
  if (lease === undefined) return undefined;
  let outcomes: readonly MessageOutcome[] = [];
  try {
    const messages = await readReadyMessages(kernel.db, lease.shards, settings.batchSize);
    outcomes = await delivery.send(messages, begun + settings.sendWithinMs);
  } catch (error) {
    await settle(kernel, lease, outcomes).catch(() => {}); // The first error says more; the lease will lapse.
    throw error;
  }
  const isOver = () => delivery.isStopping && performance.now() >= begun + settings.leaseMs;
  return { outcomes, held: await settleWhenAnswered(kernel, lease, outcomes, delivery, isOver) };
}

/**
 * Stores outcomes of messages, and retries until the database answers: each lost outcome is a message sent twice. The
 * lease holds until another relay takes its shards, even when it is overdue. A relay that is stopped waits no longer
 * than the lease.
 */
async function settleWhenAnswered(
  kernel: Kernel,
  lease: ShardLease,
  outcomes: readonly MessageOutcome[],
  delivery: Delivery,
  isOver: () => boolean,
): Promise<boolean> {
  try {
    return await settle(kernel, lease, outcomes);
  } catch (error) {
    if (!isAway(error) || isOver()) throw error;
  }
  return delivery.settling(async () => {
    for (;;) {
      await pause(settleAgainMs);
      try {
        return await settle(kernel, lease, outcomes);
      } catch (error) {
        if (!isAway(error) || isOver()) throw error;
      }
    }
  });
}

/**
 * Stores outcomes of messages, and releases their shards. False if the lease was lost: then another relay sends them
 * again. Idempotent, so that the caller can repeat it after a lost reply.
 */
async function settle(kernel: Kernel, lease: ShardLease, outcomes: readonly MessageOutcome[]): Promise<boolean> {
  const { held } = await settleMessages(kernel.db, lease.token, outcomes, followersAtOnce);
  if (kernel.faults !== undefined) await kernel.faults.at("relay.afterMark");
  return held;
}

function isAway(error: unknown): boolean {
  return awayCodes.some((code) => isPawlError(error, code));
}

const awayCodes = ["database_unreachable", "outcome_unknown", "busy"] as const;
const settleAgainMs = 200;
