import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import type { AnyLifecycle } from "../definition/language/face.ts";
import { suggest } from "../definition/read/fault.ts";
import type { InstanceRef } from "../given.ts";
import type { Pawl } from "../pawl.ts";
import type { Arguments } from "./request.ts";

/** One verb that a client without lifecycle values can call: what it takes, and how it is answered. */
export interface Verb {
  readonly takes: readonly string[];
  readonly answer: (pawl: Pawl, args: Arguments, options: DispatchOptions) => unknown;
}

export interface DispatchOptions {
  /** Ends a `wait` whose client is gone. */
  readonly signal?: AbortSignal | undefined;
  /** Where the Pawl that answers is reached over HTTP. */
  readonly url?: string | undefined;
}

export function lifecycleOf(pawl: Pawl, args: Arguments): AnyLifecycle {
  return lifecycleNamed(pawl, args.text("lifecycle"));
}

export function lifecycleNamed(pawl: Pawl, name: string): AnyLifecycle {
  const found = [...pawl.lifecycles, ...pawl.internalLifecycles].find((one) => one.name === name);
  if (found !== undefined) return found;
  const remedy = suggest(
    name,
    pawl.lifecycles.map((one) => one.name),
  );
  throw new PawlError("lifecycle_unknown", `There is no lifecycle \`${name}\`. ${remedy}`, { lifecycle: name });
}

/** The lifecycle that is named, or else that of the instance whose id is given. */
export async function lifecycleMeant(pawl: Pawl, args: Arguments): Promise<AnyLifecycle> {
  if (args.has("lifecycle") || !args.has("id")) return lifecycleOf(pawl, args);
  const id = args.text("id");
  const lifecycle = isId(id) ? await pawl.lifecycleOf(id) : undefined;
  if (lifecycle !== undefined) return lifecycle;
  throw new PawlError("instance_unknown", `There is no instance with the id ${JSON.stringify(id)}.`, { id });
}

export function refOf(args: Arguments): InstanceRef {
  const [key, id] = [args.optionalText("key"), args.optionalText("id")];
  if (key !== undefined && id === undefined) return key;
  if (id !== undefined && key === undefined) return { id };
  throw new PawlError("option_invalid", "Say which instance is meant, by its `key` or by its `id`.");
}

export function statesOf(lifecycle: AnyLifecycle, args: Arguments, name: string): string[] | undefined {
  const states = args.texts(name);
  const stray = states?.find((state) => !lifecycle.states.has(state));
  if (stray === undefined) return states;
  const remedy = suggest(stray, lifecycle.states.keys());
  throw new PawlError("option_invalid", `\`${lifecycle.name}\` has no state \`${stray}\`. ${remedy}`, { state: stray });
}

export function causeOf(args: Arguments): { actor?: string | undefined; reason?: string | undefined } {
  return { actor: args.optionalText("actor"), reason: args.optionalText("reason") };
}
