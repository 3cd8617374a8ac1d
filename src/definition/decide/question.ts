import { compute } from "../../base/guard.ts";
import { storableText } from "../../base/json.ts";
import type { AnyCrowd } from "../crowd.ts";
import type { Context, LifecycleModel } from "../model.ts";
import type { AnyQueue } from "../queue.ts";
import type { InstanceModel } from "./instance.ts";
import { contextOf } from "./move.ts";

/** Who is asked in a state, and what they are shown. */
export type Asked =
  | { readonly queue: AnyQueue; readonly crowd?: undefined; readonly sample: (context: Context) => object }
  | { readonly crowd: AnyCrowd; readonly queue?: undefined; readonly sample: (context: Context) => object };

/** What an instance asks where it stands; undefined where it asks nothing. */
export function askedBy(lifecycle: LifecycleModel, { state }: Pick<InstanceModel, "state">): Asked | undefined {
  const known = lifecycle.states.get(state);
  return known?.kind === "ask" ? (known.ask as Asked) : undefined;
}

/** What people are shown of an instance. The same arguments give the same, for ever. */
export function questionOf(lifecycle: LifecycleModel, instance: InstanceModel, asked: Asked, nowMs: number): unknown {
  const what = `The \`sample\` of \`${instance.state}\` in \`${lifecycle.name}\``;
  const event = { name: "ask", payload: undefined, actor: null, reason: null };
  const shown: unknown = compute("set_failed", what, () =>
    asked.sample(contextOf(instance, instance.data, event, nowMs)),
  );
  storableText(shown, what);
  return shown;
}
