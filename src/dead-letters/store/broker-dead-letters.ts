import { type Executor, sql } from "../../store/port/db.ts";
import type { Decider } from "../../store/recovery/dead-letters.ts";

/** A message that died in the queue of a broker. */
export interface BrokerLetter {
  readonly id: string;
  /** The broker, and the queue in which it died. */
  readonly broker: string;
  readonly queue: string;
  readonly reason: string;
  /** The error of its last consumer, if any; if Pawl rejected the message, its own reason counts. */
  readonly errorText: string | null;
  /** Identifies it among the messages that Pawl rejected. */
  readonly fingerprint: string;
  readonly deaths: number;
  readonly payloadText: string;
  readonly detailsText: string;
  /** Identifies the death: the same one is never stored twice. */
  readonly cause: string;
  /** The subject that its sender named: an instance of Pawl, or something else. */
  readonly aggregate: { readonly type: string; readonly id: string } | null;
  /**
   * For a message without an id that was delivered before: it is stored only if no letter has a cause with this prefix.
   */
  readonly unlessThere: string | null;
}

/** Stores the letter; false if it is stored already. Only an existing instance counts as its subject. */
export async function insertBrokerLetter(db: Executor, letter: BrokerLetter): Promise<boolean> {
  const { aggregate } = letter;
  const rows = await db.rows(sql`
    insert into pawl.dead_letters (
      id, instance_id, lifecycle, kind, origin, reason, error, attempts, payload, details, cause, version, created_at
    )
    select ${letter.id}::uuid, instance.id, coalesce(instance.lifecycle, ${letter.broker}::text), 'broker',
      ${letter.queue}::text, ${letter.reason}::text, coalesce(rejected.error, ${letter.errorText}::text::jsonb), ${letter.deaths}::int, ${letter.payloadText}::text::jsonb,
      ${letter.detailsText}::text::jsonb, ${letter.cause}::text, coalesce(instance.version, 0), pawl.now()
    from (select ${aggregate?.type ?? null}::text as type, ${aggregate?.id ?? null}::uuid as id) as about
    left join pawl.instances as instance on instance.id = about.id and instance.lifecycle = about.type
    left join pawl.rejected_messages as rejected on rejected.fingerprint = ${letter.fingerprint}::text
    where ${letter.unlessThere}::text is null or not exists (
      select from pawl.dead_letters as each
      where each.cause >= ${letter.unlessThere}::text and each.cause < ${letter.unlessThere}::text || ';'
    )
    on conflict do nothing
    returning id::text as id`);
  return rows.length > 0;
}

/**
 * Writes the message to the outbox unchanged, for the queue that it came from; false if the letter is no longer open.
 */
export async function requeueBrokerLetter(
  db: Executor,
  letterId: string,
  message: { readonly id: string; readonly type: string },
  { actor, reason }: Decider,
): Promise<boolean> {
  const rows = await db.rows(sql`
    with letter as (
      update pawl.dead_letters
      set status = 'requeued', decided_at = pawl.now(), decided_by = ${actor}::text, decision = ${reason}::text
      where id = ${letterId}::uuid and status = 'open' and kind = 'broker'
      returning id, payload, details
    )
    insert into pawl.messages (id, aggregate_id, aggregate_type, message_type, payload, created_at)
    select ${message.id}::uuid, letter.id::text, 'dead_letter', ${message.type}::text,
      jsonb_build_object('body', letter.payload, 'message', letter.details), pawl.now()
    from letter
    returning id::text as id`);
  return rows.length > 0;
}
