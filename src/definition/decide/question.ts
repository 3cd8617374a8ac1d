import { compute } from "../../base/guard.ts";
import { storableText } from "../../base/json.ts";
import type { AnyCrowd } from "../crowd.ts";
import type { Context, LifecycleModel } from "../model.ts";
import type { AnyQueue } from "../queue.ts";
import type { InstanceModel } from "./instance.ts";
import { contextOf } from "./move.ts";

/** The queue or crowd of a state that asks, and its content. */
export type AskedQuestion =
  | { readonly queue: AnyQueue; readonly crowd?: undefined; readonly sample: (context: Context) => object }
  | { readonly crowd: AnyCrowd; readonly queue?: undefined; readonly sample: (context: Context) => object };

/** The question of an instance in its state; undefined if the state does not ask. */
export function questionAskedBy(
  lifecycle: LifecycleModel,
  { state }: Pick<InstanceModel, "state">,
): AskedQuestion | undefined {
  const known = lifecycle.states.get(state);
  return known?.kind === "ask" ? (known.ask as AskedQuestion) : undefined;
}

/** The content that labelers see of an instance. Pure: the same arguments give the same content. */
export function questionOf(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  asked: AskedQuestion,
  nowMs: number,
): unknown {
  const what = `The \`sample\` of \`${instance.state}\` in \`${lifecycle.name}\``;
  const event = { name: "ask", payload: undefined, actor: null, reason: null };
  const shown: unknown = compute("set_failed", what, () =>
    asked.sample(contextOf(instance, instance.data, event, nowMs)),
  );
  storableText(shown, what);
  return shown;
}
