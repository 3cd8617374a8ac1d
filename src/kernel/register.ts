import { PawlError } from "../base/errors.ts";
import type { LifecycleModel } from "../definition/model.ts";
import { hashOf, shapeOf, statesAndEdges, timedStates } from "../definition/shape.ts";
import {
  type KnownDefinition,
  lockDefinitions,
  markRetention,
  markTimed,
  putDefinition,
} from "../store/definitions.ts";
import type { Tx } from "../store/port/db.ts";
import { readCounts } from "../views/counts.ts";
import type { Kernel } from "./kernel.ts";

/** The hint that a definition was registered: there may be new lanes. */
export const definitionsTopic = "definitions";

/**
 * Makes the definitions of this process known to the database, which from then on refuses every move that they do not
 * declare. The same number may gain states and edges; what would strand or redirect live instances is refused here.
 */
export async function registerLifecycles(kernel: Kernel, lifecycles: readonly LifecycleModel[]): Promise<void> {
  let isNew = false;
  await kernel.db.transaction(async (tx) => {
    isNew = false;
    const known = await lockDefinitions(
      tx,
      lifecycles.map((one) => one.name),
    );
    for (const lifecycle of lifecycles) {
      const before = known.filter((one) => one.name === lifecycle.name);
      if (await register(tx, lifecycle, before)) isNew = true;
    }
  });
  if (isNew) kernel.signals.hint(definitionsTopic);
}

/** Whether there is anything new about it. */
async function register(tx: Tx, lifecycle: LifecycleModel, known: readonly KnownDefinition[]): Promise<boolean> {
  const shape = shapeOf(lifecycle);
  const hash = hashOf(shape);
  const retentionMs = lifecycle.retentionMs ?? null;
  const timed = timedStates(lifecycle);
  const same = known.find((one) => one.version === lifecycle.version);
  await refuseStranded(tx, lifecycle, known);
  // A process of an earlier deploy, or simply the next start: nothing new.
  if (same?.shapes.includes(hash)) {
    if (same.keep_closed_ms !== retentionMs) await markRetention(tx, lifecycle, retentionMs);
    if (String(same.shape.timed) !== String(timed)) await markTimed(tx, lifecycle, timed);
    return false;
  }
  if (same !== undefined) refuseChange(lifecycle, same);
  await putDefinition(tx, {
    name: lifecycle.name,
    version: lifecycle.version,
    hash,
    shapeText: JSON.stringify({ ...shape, edges: statesAndEdges(lifecycle) }),
    retentionMs,
    edges: statesAndEdges(lifecycle),
  });
  await markTimed(tx, lifecycle, timed);
  return true;
}

function refuseChange(lifecycle: LifecycleModel, known: KnownDefinition): void {
  const has = new Set(statesAndEdges(lifecycle).map(nameOf));
  const lost = known.shape.edges.filter((edge) => !has.has(nameOf(edge))).map(nameOf);
  if (lost.length === 0) return;
  throw new PawlError(
    "definition_changed",
    `\`${lifecycle.name}\` version ${lifecycle.version} lacks what was registered under that number: ${lost.slice(0, 5).join("; ")}${lost.length > 5 ? `; and ${lost.length - 5} more` : ""}. A definition may gain states and edges; to remove or redirect one, raise \`version\` to ${lifecycle.version + 1}.`,
    { lifecycle: lifecycle.name, version: lifecycle.version, lost },
  );
}

function nameOf(edge: { from: string; event: string; to: string }): string {
  return `${edge.from || "(start)"} -${edge.event}-> ${edge.to}`;
}

/** Live instances in states that this definition does not know could never be moved again. */
async function refuseStranded(tx: Tx, lifecycle: LifecycleModel, known: readonly KnownDefinition[]): Promise<void> {
  const older = known.filter((one) => one.version < lifecycle.version);
  // Who has ended stays where it ended, whether or not that state is still known.
  const open = older.flatMap((one) => one.shape.states.filter((state) => state.kind !== "end"));
  const names = [...new Set(open.map((state) => state.name))];
  const gone = names.filter((state) => !lifecycle.states.has(state) && !(state in lifecycle.renamed));
  if (gone.length === 0) return;
  const counts = await readCounts(tx, [lifecycle.name]);
  const stranded = counts.filter((count) => gone.includes(count.state));
  if (stranded.length === 0) return;
  const sentence = stranded.map((one) => `${one.instances} in \`${one.state}\``).join(", ");
  throw new PawlError(
    "states_removed",
    `\`${lifecycle.name}\` version ${lifecycle.version} has no place for live instances: ${sentence}. Keep the state, or declare its new name: \`renamed: { ${stranded[0]!.state}: "…" }\`.`,
    { lifecycle: lifecycle.name, version: lifecycle.version, stranded },
  );
}
