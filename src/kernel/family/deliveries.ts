import { durationMs } from "../../base/duration.ts";
import { PawlError } from "../../base/errors.ts";
import { storableText } from "../../base/json.ts";
import { checkedOptions } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import { payloadOf, takesPayload } from "../../definition/decide/decide.ts";
import { refuseMisplacedOptions } from "../../definition/decide/misplaced-options.ts";
import { isInternal, refuseInternal } from "../../definition/internal.ts";
import { type LifecycleModel, sendLaneOf } from "../../definition/model.ts";
import type { EffectRow } from "../../store/tasks/tasks.ts";
import { payloadInvalid } from "../errors.ts";
import { type Kernel, knownLifecycle } from "../kernel.ts";
import { refOf } from "../refs.ts";
import type { Delivery, OutgoingEvent, PlannedSend } from "../types/delivery.ts";

/**
 * Checks what can be checked before the instance is known. Throws errors that the step has to fix; nothing is sent
 * then.
 */
export function planSend(
  kernel: Kernel,
  sender: string,
  lifecycle: unknown,
  to: unknown,
  event: unknown,
  rest: readonly unknown[],
): PlannedSend {
  const known = knownLifecycle(kernel, lifecycle);
  if (!isInternal(sender)) refuseInternal(known.name, "step.send");
  const name = checkedText(event, "The event");
  const isEvent = [...known.states.keys()].some((state) => known.edgesFrom(state, name).length > 0);
  if (!isEvent) throw new PawlError("event_unknown", `\`${known.name}\` has no event \`${name}\`.`, { event: name });
  const [payload, options] = takesPayload(known, name) || rest.length > 1 ? rest : [undefined, rest[0]];
  if (rest.length === 1) {
    const remedy = `Pass the payload first, or undefined: step.send(lifecycle, instance, "${name}", undefined, { after }).`;
    refuseMisplacedOptions(payload, ["after"], { schema: known.events.get(name), call: "`step.send`", remedy });
  }
  const afterMs = delayOf(options, name);
  const checked = payloadOf(known, { name, payload, actor: null, reason: null });
  if (checked.faults !== undefined) throw payloadInvalid(known, name, checked.faults);
  const address = addressOf(to);
  const outgoing: OutgoingEvent = {
    id: kernel.newId(),
    to: address,
    event: name,
    payload,
    ...(afterMs > 0 && { afterMs }),
  };
  storableText(payload ?? null, `The payload of \`${name}\``);
  return { lifecycle: known, outgoing, text: JSON.stringify(outgoing) };
}

function delayOf(options: unknown, event: string): number {
  const { after } = checkedOptions(options as { after?: unknown } | undefined, ["after"], "step.send");
  return after === undefined ? 0 : durationMs(after, `step.send of \`${event}\`: after`);
}

function addressOf(to: unknown): OutgoingEvent["to"] {
  if (to instanceof Object && "child" in to)
    return { child: checkedText(to.child, "The key of a child", "key_invalid") };
  return refOf(to);
}

const maxEvents = 500;
const maxText = 256 * 1024;

/** The tasks that bring letters, in as few as can be. All that goes to one instance is in one, and so stays in its order. */
export function deliveriesOf(
  sends: readonly PlannedSend[],
  sender: { readonly id: string; readonly visit: number; readonly run: number },
  newId: () => string,
): EffectRow[] {
  const bundles = new Map<string, { lifecycle: LifecycleModel; texts: string[]; size: number }[]>();
  for (const events of byAddress(sends).values()) {
    const { lifecycle } = events[0]!;
    const open = bundles.get(lifecycle.name) ?? [];
    const texts = events.map((one) => one.text);
    const size = texts.reduce((sum, text) => sum + text.length, 0);
    const last = open.at(-1);
    if (last === undefined || last.texts.length + texts.length > maxEvents || last.size + size > maxText)
      open.push({ lifecycle, texts, size });
    else {
      last.texts.push(...texts);
      last.size += size;
    }
    bundles.set(lifecycle.name, open);
  }
  return [...bundles.values()].flat().map(({ lifecycle, texts }) => ({
    id: newId(),
    instanceId: sender.id,
    lane: sendLaneOf(lifecycle),
    priority: 0,
    visit: sender.visit,
    workText: `{"delivery":{"lifecycle":"${lifecycle.name}","run":${sender.run},"letters":[${texts.join(",")}]}}`,
  }));
}

function byAddress(sends: readonly PlannedSend[]): Map<string, PlannedSend[]> {
  const addresses = new Map<string, PlannedSend[]>();
  for (const one of sends) {
    const address = JSON.stringify([one.lifecycle.name, one.outgoing.to]);
    const known = addresses.get(address);
    if (known === undefined) addresses.set(address, [one]);
    else known.push(one);
  }
  return addresses;
}

/** The task that notifies the open children of a run, of one lifecycle, that it has ended. */
export function parentEndRow(
  run: { readonly id: string; readonly run: number; readonly visit: number },
  children: Pick<LifecycleModel, "name" | "version">,
  newId: () => string,
): EffectRow {
  const delivery: Delivery = { lifecycle: children.name, run: run.run };
  return {
    id: newId(),
    instanceId: run.id,
    lane: sendLaneOf(children),
    priority: 0,
    visit: run.visit,
    workText: JSON.stringify({ delivery }),
  };
}

/** The delivery that a task is; undefined for an after-effect. */
export function deliveryIn(work: unknown): Delivery | undefined {
  return (work as { delivery?: Delivery } | null)?.delivery;
}
