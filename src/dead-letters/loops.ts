import { PawlError } from "../base/errors.ts";
import { compute } from "../base/guard.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { settleWithin } from "../kernel/time-limit.ts";
import { type Repeated, repeat } from "../maintenance/repeat.ts";
import type { DeadLetterSource } from "../outbox/broker.ts";
import { logFailure } from "../telemetry/log.ts";
import { readNow } from "../views/now.ts";
import { storeBrokerDeadLetter } from "./broker-dead-letters.ts";
import { notifyTickets } from "./notify-tickets.ts";
import { enforceRetention } from "./retention.ts";
import type { LetterSettings } from "./settings.ts";

const lookEveryMs = 1_000;
const keepEveryMs = 60_000;
/** Leaves a process time to start. */
const keepFirstMs = 5_000;
/** A consumer waits up to 25 seconds for its handler. */
const stopLimitMs = 30_000;

/**
 * Starts the background loops of dead letters: retention, tickets, dead-letter queues. Each runs on its own
 * until it is stopped.
 */
export function startDeadLetterLoops(kernel: Kernel, settings: LetterSettings): Repeated[] {
  const { log } = kernel.telemetry;
  const onFailure = (error: unknown) => logFailure(log, error);
  const keeping = async (): Promise<number> => ((await enforceRetention(kernel, settings)) > 0 ? 0 : keepEveryMs);
  const { onTicket, queues } = settings;
  const keep = { keep: storeBrokerDeadLetter.bind(undefined, kernel), available: () => readNow(kernel.db), log };
  return [
    repeat(keeping, { restMs: keepEveryMs, firstMs: keepFirstMs, onFailure }),
    ...(onTicket === undefined ? [] : [startTicketLoop(kernel, onTicket)]),
    ...queues.map((queue) => openQueue(queue, keep)),
  ];
}

/** A source that cannot be opened is logged, and hinders nothing else; closing one has a limit. */
function openQueue(queue: DeadLetterSource, given: Parameters<DeadLetterSource["open"]>[0]): Repeated {
  const what = `Opening the dead-letter queue \`${queue.name}\``;
  let opened: Partial<Repeated> | null;
  try {
    opened = compute("hook_failed", what, () => queue.open(given));
    if (typeof opened?.stop !== "function") throw new PawlError("hook_failed", `${what} returned no \`stop\`.`);
  } catch (error) {
    logFailure(given.log, error);
    return { stop: async () => {} };
  }
  const source = opened as Repeated;
  return {
    stop: () => settleWithin(stopLimitMs, `Closing the dead-letter queue \`${queue.name}\``, () => source.stop()),
  };
}

function startTicketLoop(kernel: Kernel, onTicket: NonNullable<LetterSettings["onTicket"]>): Repeated {
  const round = async (): Promise<number> => ((await notifyTickets(kernel, onTicket)) > 0 ? 0 : lookEveryMs);
  const onFailure = (error: unknown) => logFailure(kernel.telemetry.log, error);
  return repeat(round, { restMs: lookEveryMs, onFailure });
}
