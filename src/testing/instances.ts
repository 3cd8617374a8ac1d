import type { Pawl } from "../api/pawl.ts";
import type { Instance } from "../api/results.ts";
import type { AnyLifecycle } from "../definition/language/public-types.ts";

/** An instance with the name that a person knows it by. */
export interface NamedInstance {
  readonly id: string;
  /** Such as `order "o1"`, or `solve "q1" of attempt "ada"` for a child. */
  readonly name: string;
  readonly lifecycle: AnyLifecycle;
  readonly instance: Instance;
}

const pageSize = 500;

/** All instances of these lifecycles, oldest first. */
export async function instancesOf(pawl: Pawl, lifecycles: readonly AnyLifecycle[]): Promise<NamedInstance[]> {
  const found: { lifecycle: AnyLifecycle; instance: Instance }[] = [];
  for (const lifecycle of lifecycles) {
    for (let after: { id: string } | undefined; ; ) {
      const page = await pawl.list(lifecycle, { limit: pageSize, ...(after === undefined ? {} : { after }) });
      for (const instance of page) found.push({ lifecycle, instance });
      if (page.length < pageSize) break;
      after = page.at(-1)!;
    }
  }
  found.sort((one, other) => (one.instance.id < other.instance.id ? -1 : 1));
  return named(found);
}

function named(found: readonly { readonly lifecycle: AnyLifecycle; readonly instance: Instance }[]): NamedInstance[] {
  const names = new Map<string, string>();
  const unnamed = new Map<string, number>();
  return found.map(({ lifecycle, instance }) => {
    const { id, key, parent } = instance;
    const count = (unnamed.get(lifecycle.name) ?? 0) + 1;
    if (key === null) unnamed.set(lifecycle.name, count);
    const own = `${lifecycle.name} ${key === null ? `#${count}` : JSON.stringify(key)}`;
    // Parents are older than their children.
    const name = parent === null ? own : `${own} of ${names.get(parent.id) ?? parent.lifecycle}`;
    names.set(id, name);
    return { id, name, lifecycle, instance };
  });
}
