import { type Db, sql } from "../../../src/store/port/db.ts";
import type { LifecyclePlan, Plan } from "../plan/plan.ts";
import type { Finding } from "./finding.ts";

interface ChildLetter {
  readonly child: string;
  readonly parent_lifecycle: string;
  readonly parent_state: string;
  readonly at: string;
}

/** A child whose parent is on its way to a join that deals with failures leaves no dead letter of its own. */
export async function childrenTold(db: Db, plan: Plan): Promise<Finding[]> {
  const letters = await db.rows<ChildLetter>(sql`
    select child.key as child, parent.lifecycle as parent_lifecycle, move.to_state as parent_state, letter.created_at::text as at
    from pawl.dead_letters as letter
    join pawl.instances as child on child.id = letter.instance_id and child.lifecycle = 'child'
    join pawl.instances as parent on parent.id = child.parent_id
    join lateral (
      select each.to_state from pawl.journal as each
      where each.instance_id = parent.id and each.at < letter.created_at order by each.version desc limit 1
    ) as move on true
    where letter.kind = 'instance' and letter.reason <> 'release_failed'
      -- Moves at the very same time say nothing about what came first.
      and not exists (
        select from pawl.journal as each where each.instance_id = parent.id and each.at = letter.created_at
      )`);
  return letters.flatMap(({ child, parent_lifecycle, parent_state, at }) =>
    dealsWithFailure(
      plan.lifecycles.find(({ name }) => name === parent_lifecycle),
      parent_state,
    )
      ? [
          {
            invariant: "children",
            message: `${child} left a dead letter at ${at}, though its parent in ${parent_state} deals with its failure`,
          },
        ]
      : [],
  );
}

function dealsWithFailure(parent: LifecyclePlan | undefined, state: string): boolean {
  const at = parent?.stages.findIndex(({ name }) => name === state) ?? -1;
  return at >= 0 && parent!.stages.slice(at).some(({ kind, join }) => kind === "join" && join !== "wait");
}
