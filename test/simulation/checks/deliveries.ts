import { type Db, sql } from "../../../src/store/port/db.ts";
import type { World } from "../world/world.ts";
import type { Finding } from "./finding.ts";

/** A broker fails often enough in a run that some messages are sent again; never this often. */
const mostConfirmations = 8;

/** Messages, alerts and delayed events: what was to be delivered has been, or says why not. */
export async function undelivered(world: World, db: Db): Promise<Finding[]> {
  return [
    ...(await messagesPending(db)),
    ...confirmedTooOften(world),
    ...(await alertsUnheard(world, db)),
    ...(await delayedLost(world, db)),
  ];
}

async function messagesPending(db: Db): Promise<Finding[]> {
  const rows = await db.rows<{ message: string }>(sql`
    select format('message %s of %s is still pending after %s tries: %s', id, aggregate_id, retry_count, error_message) as message
    from pawl.messages as pending
    where status = 'pending' and unrouted_at is null and not exists (
      -- Behind one that was given up it waits for a person.
      select from pawl.messages as before
      where before.status = 'dead' and before.aggregate_type = pending.aggregate_type
        and before.aggregate_id = pending.aggregate_id and before.position < pending.position
    ) order by position`);
  return rows.map(({ message }) => ({ invariant: "I4", message }));
}

function confirmedTooOften({ ledger }: World): Finding[] {
  const times = new Map<string, number>();
  for (const { id } of ledger.confirmed) times.set(id, (times.get(id) ?? 0) + 1);
  return [...times].flatMap(([id, count]) =>
    count > mostConfirmations
      ? [{ invariant: "I4", message: `message ${id} was sent and confirmed ${count} times` }]
      : [],
  );
}

async function alertsUnheard({ ledger }: World, db: Db): Promise<Finding[]> {
  const heard = new Set(ledger.alerts.map(({ cause }) => cause));
  const rows = await db.rows<{ cause: string; message: string }>(
    sql`select cause, message from pawl.alerts order by id`,
  );
  return rows.flatMap(({ cause, message }) =>
    heard.has(cause) ? [] : [{ invariant: "alerts", message: `nobody has heard the alert ${cause}: ${message}` }],
  );
}

/** An event that was to be sent later has happened, was refused or has failed; or its instance has ended or started anew. */
async function delayedLost({ ledger }: World, db: Db): Promise<Finding[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select request_id::text as id from pawl.journal where request_id is not null
    union select task_id::text from pawl.attempts where lane is null
    union select request_id::text from pawl.timers where request_id is not null`);
  const traces = new Set(rows.map(({ id }) => id));
  const open = await db.rows<{ id: string }>(
    sql`select id::text as id from pawl.instances where closed_at is null and run = 1`,
  );
  const waiting = new Set(open.map(({ id }) => id));
  return [...ledger.delayed].flatMap(([request, instance]) =>
    traces.has(request) || !waiting.has(instance)
      ? []
      : [{ invariant: "I8", message: `the delayed event ${request} of ${instance} has left no trace` }],
  );
}
