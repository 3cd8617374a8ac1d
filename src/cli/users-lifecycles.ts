import type { AnyLifecycle } from "../definition/face.ts";
import type { Pawl } from "../pawl.ts";

/** What the config itself declares, without what Pawl brings for samples, assignments and crowds. */
export function usersLifecycles({ lifecycles }: Pawl): readonly AnyLifecycle[] {
  return lifecycles.filter(({ name }) => !name.startsWith("pawl_"));
}
