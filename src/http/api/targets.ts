import type { InstanceRef } from "../../api/arguments/options.ts";
import type { Pawl } from "../../api/pawl.ts";
import { type ErrorCode, PawlError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import type { AnyJob } from "../../definition/job.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { suggest } from "../../definition/read/fault.ts";

/** The lifecycles, queues and other values that a request names, as the calls of `Pawl` expect them. */
export function lifecycleNamed(pawl: Pawl, name: string): AnyLifecycle {
  const found = [...pawl.lifecycles, ...pawl.internalLifecycles].find((one) => one.name === name);
  if (found !== undefined) return found;
  const remedy = suggest(
    name,
    pawl.lifecycles.map((one) => one.name),
  );
  throw new PawlError("lifecycle_unknown", `Lifecycle \`${name}\` does not exist. ${remedy}`, { lifecycle: name });
}

/** The lifecycle of a filter; undefined for all of them. */
export function lifecycleIfNamed(pawl: Pawl, name: string | undefined): AnyLifecycle | undefined {
  return name === undefined ? undefined : lifecycleNamed(pawl, name);
}

/** An unknown job is refused where it is used. */
export function jobNamed(pawl: Pawl, name: string): AnyJob {
  return lifecycleNamed(pawl, name) as AnyJob;
}

export interface Target {
  readonly lifecycle: AnyLifecycle;
  readonly ref: InstanceRef;
}

/** An instance that is named by its lifecycle and key, or by its id alone. */
export async function targetOf(
  pawl: Pawl,
  named: { readonly id?: string; readonly lifecycle?: string; readonly key?: string },
): Promise<Target> {
  const { id, lifecycle: name, key } = named;
  if (name !== undefined && key !== undefined) return { lifecycle: lifecycleNamed(pawl, name), ref: key };
  const lifecycle = id !== undefined && isId(id) ? await pawl.lifecycleOf(id) : undefined;
  if (lifecycle !== undefined) return { lifecycle, ref: { id: id! } };
  return unknown("instance_unknown", `Instance ${JSON.stringify(id)} does not exist.`, { id });
}

export function statesOf(lifecycle: AnyLifecycle, states: string[] | undefined): string[] | undefined {
  const stray = states?.find((state) => !lifecycle.states.has(state));
  if (stray === undefined) return states;
  const remedy = suggest(stray, lifecycle.states.keys());
  throw new PawlError("option_invalid", `\`${lifecycle.name}\` has no state \`${stray}\`. ${remedy}`, { state: stray });
}

export function unknown(code: ErrorCode, message: string, details: Readonly<Record<string, unknown>>): never {
  throw new PawlError(code, message, details);
}
