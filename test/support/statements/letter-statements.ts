import type { Pawl } from "pawl";
import { operationDeciders } from "../../../src/api/open/operation-deciders.ts";
import { archiveOldest, restore } from "../../../src/dead-letters/archive.ts";
import { storeBrokerDeadLetter } from "../../../src/dead-letters/broker-dead-letters.ts";
import { enforceRetention } from "../../../src/dead-letters/retention.ts";
import { claimDueTickets, markTicketDelivered } from "../../../src/dead-letters/store/tickets.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import { Verbs } from "../../../src/kernel/verbs.ts";
import { runOneBatch } from "../../../src/operations/run-operations.ts";

const died = {
  broker: "rabbitmq",
  graveyard: "dlq",
  reason: "rejected",
  queue: "q",
  exchange: undefined,
  routingKey: undefined,
  deaths: 1,
  diedAt: undefined,
  headers: {},
  properties: {},
  body: Buffer.from("{}"),
  redelivered: true,
};

/** The background work on dead letters: collecting, operations, delivery, archiving. */
export async function everyStatementOfLetters(pawl: Pawl, kernel: Kernel): Promise<void> {
  for (const id of [undefined, kernel.newId(), kernel.newId()]) await storeBrokerDeadLetter(kernel, { ...died, id });
  const some = await pawl.deadLetters.list({ limit: 5 });
  await pawl.deadLetters.list({ fingerprint: some[0]!.fingerprint, limit: 5 });
  await pawl.deadLetters.requeueMany({ id: some.map((letter) => letter.id) });
  const deciders = operationDeciders(kernel, new Verbs(kernel));
  while (await runOneBatch(kernel, deciders));
  for (const ticket of await claimDueTickets(kernel.db, 20, 120_000))
    await markTicketDelivered(kernel.db, ticket, null);
  const files = new Map<string, Buffer>();
  const archive = {
    name: "memory",
    write: async (name: string, content: Buffer) => void files.set(name, content),
    read: async (name: string) => files.get(name)!,
    list: async () => [...files.keys()],
  };
  await archiveOldest(kernel, archive, { olderThanMs: 0, limit: 3 });
  await archiveOldest(kernel, archive, { olderThanMs: null, limit: 3 });
  await restore(kernel, archive, { files: [...files.keys()] });
  await enforceRetention(kernel, { retentionMs: null, maxRetained: 1_000_000, archive, alertOver: 1 });
}
