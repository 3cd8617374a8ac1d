import { sql } from "../../../src/store/port/db.ts";
import type { World } from "../world/world.ts";
import type { Finding } from "./finding.ts";

/** The histories of the instances that findings are about, one line each move or attempt. */
export async function histories(world: World, findings: readonly Finding[]): Promise<string[]> {
  const text = findings.map(({ message }) => message).join(" ");
  const rows = await world.database.check((db) =>
    db.rows<{ id: string; key: string | null; line: string }>(sql`
      select instance.id::text as id, instance.key, each.line from pawl.instances as instance
      cross join lateral (
        select move.at, move.version, 0 as place, format('%s %s %s: %s -> %s by %s %s %s', move.version, move.at, move.event,
          move.from_state, move.to_state, move.source, move.actor, move.reason) as line
        from pawl.journal as move where move.instance_id = instance.id
        union all
        select attempt.at, null, 1, format('  %s %s token %s in %s attempt %s %s', attempt.at, attempt.what, attempt.token,
          attempt.lane, attempt.attempt, attempt.detail)
        from pawl.attempts as attempt where attempt.instance_id = instance.id
        union all
        select timer.due_at, null, 2, format('  timer %s %s due %s', timer.kind, timer.event, timer.due_at)
        from pawl.timers as timer where timer.instance_id = instance.id
        union all
        select task.leased_until, null, 3, format('  task %s in %s, due %s, leased until %s by %s', task.id, task.lane, task.due_at, task.leased_until, task.worker)
        from pawl.tasks as task where task.instance_id = instance.id
        union all
        select callback.received_at, null, 4, format('  callback %s %s %s %s, waits: %s', callback.dedupe, callback.event, callback.status, callback.reason, callback.looked)
        from pawl.callbacks as callback where callback.instance_id = instance.id
        union all
        select letter.created_at, null, 5, format('  dead letter %s %s %s', letter.kind, letter.status, letter.reason)
        from pawl.dead_letters as letter where letter.instance_id = instance.id
      ) as each
      order by instance.id, each.at, each.version, each.place`),
  );
  const lines: string[] = [];
  let last = "";
  for (const { id, key, line } of rows) {
    const isMeant = text.includes(id) || (key !== null && (text.includes(`"${key}"`) || text.includes(` ${key}:`)));
    if (!isMeant) continue;
    if (id !== last) lines.push(`${id} "${key}":`);
    last = id;
    lines.push(line);
  }
  return lines;
}
