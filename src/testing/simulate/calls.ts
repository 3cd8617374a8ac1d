import { isPawlError, messageOf, type PawlError } from "../../base/errors.ts";
import type { Blocker } from "../../definition/decide/decide.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { Dice } from "../dice.ts";
import type { NamedInstance } from "../instances.ts";
import { stableText } from "../stable-text.ts";
import type { TestPawl } from "../test-pawl.ts";
import { Problem, settled } from "./problem.ts";
import { randomOf } from "./random.ts";
import type { Generator, Sendable } from "./settings.ts";
import type { World } from "./world.ts";

// biome-ignore lint/suspicious/noExplicitAny: which events there are is known at run time only.
export type Untyped = any;

/** An event for an instance, with its payload. */
export interface Call {
  readonly to: NamedInstance;
  readonly event: string;
  readonly payload: unknown;
}

/**
 * The one of a list that these dice like best. Each is judged by its own name, so that another one that is there, or is not,
 * changes the choice as seldom as can be.
 */
export function favorite<Item>(
  dice: Dice,
  label: string,
  items: readonly Item[],
  nameOf: (item: Item) => string,
): Item | undefined {
  let best: Item | undefined;
  let most = -1;
  for (const item of items) {
    const liking = dice.draw(`${label} ${nameOf(item)}`);
    if (liking > most) [best, most] = [item, liking];
  }
  return best;
}

/** An event for some instance: mostly one that is open, and mostly an event that it takes now. Undefined when there is none. */
export async function chooseCall(
  world: World,
  dice: Dice,
  option: "events" | "callbacks",
  candidates: readonly NamedInstance[] = world.instances,
): Promise<Call | undefined> {
  const sendable = world.settings[option];
  const possible = candidates.filter(({ lifecycle }) => sendable.has(lifecycle.name));
  const open = possible.filter(({ instance }) => instance.outcome === null);
  const among = open.length > 0 && dice.chance("open", 0.9) ? open : possible;
  const to = favorite(dice, "instance", among, ({ name }) => name);
  if (to === undefined) return undefined;
  const event = chooseEvent(dice, to, sendable.get(to.lifecycle.name)!);
  return { to, event, payload: await payloadOf(world, dice, option, { to, event }) };
}

function chooseEvent(dice: Dice, { lifecycle, instance }: NamedInstance, sendable: Sendable): string {
  const all = [...sendable.keys()];
  const taken = lifecycle.eventsFrom(instance.state).filter((event) => sendable.has(event));
  const among = taken.length > 0 && dice.chance("in place", 0.85) ? taken : all;
  return favorite(dice, "event", among, (event) => event)!;
}

async function payloadOf(
  world: World,
  dice: Dice,
  option: "events" | "callbacks",
  { to, event }: { readonly to: NamedInstance; readonly event: string },
): Promise<unknown> {
  const generator = world.settings[option].get(to.lifecycle.name)!.get(event);
  const random = randomOf(dice, "payload");
  return generate(world, `${option}.${to.lifecycle.name}.${event}`, generator, { random, instance: to.instance });
}

/** What one of the user's generators makes. */
export async function generate(world: World, place: string, generator: Generator, given: object): Promise<unknown> {
  if (generator === undefined) return undefined;
  try {
    return await settled(world.settings.timeoutMs, `\`${place}\` of \`simulate\``, () => generator(given));
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(place, `\`${place}\` of \`simulate\` threw: ${messageOf(error)}`, { cause: error });
  }
}

/** Sends an event, and returns its result as text. Repeated with the same key it is the same call. */
export async function send(t: TestPawl, { to, event, payload }: Call, idempotencyKey: string): Promise<string> {
  const { lifecycle, id } = to;
  return answerOf(`events.${lifecycle.name}.${event}`, async () => {
    await (t.pawl as Untyped).send(lifecycle, { id }, event, payload, { actor: "caller", idempotencyKey });
    return "taken";
  });
}

/** The result of a call, in a few words. A fault of a definition or of a generator ends the run. */
export async function answerOf(place: string, call: () => Promise<string>): Promise<string> {
  try {
    return await call();
  } catch (error) {
    if (!isPawlError(error)) throw error;
    if (isBadlyMade(error))
      throw new Problem(place, `\`${place}\` of \`simulate\` made an invalid value: ${error.message}`);
    if (error.fault === "request" || error.fault === "environment") return refusalText(error);
    throw new Problem(`${error.code} ${place}`, error.message, { cause: error });
  }
}

/** Where it was refused, and the reason of a guard. */
function refusalText({ code, message, details }: PawlError): string {
  const blockers = (details.blockers ?? []) as readonly Blocker[];
  if (code !== "transition_refused" || blockers.length === 0) return `refused: ${shortened(message)}`;
  const reasons = blockers.flatMap(({ kind, reason }) => (kind === "guard" ? [reason] : []));
  return `refused in ${blockers[0]!.from}${reasons.length > 0 ? `: ${shortened(reasons.join("; "))}` : ""}`;
}

function isBadlyMade({ code }: PawlError): boolean {
  return code === "payload_invalid" || code === "data_invalid" || code === "value_not_serializable";
}

function shortened(text: string): string {
  const line = text.split("\n", 1)[0]!.replace(/\.$/, "");
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

/** An event as a story shows it. */
export function eventText({ event, payload }: Pick<Call, "event" | "payload">): string {
  return payload === undefined ? `\`${event}\`` : `\`${event}\` ${valueText(payload)}`;
}

export function valueText(value: unknown): string {
  const text = stableText(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** While a step of this instance runs, a caller sends it an event. */
export async function interrupt(world: World, dice: Dice, id: string, when: string): Promise<void> {
  const meant = world.instances.filter((one) => one.id === id);
  const call = await chooseCall(world, dice, "events", meant);
  if (call === undefined) return;
  await world.inParallel(async (t) => {
    const answer = await send(t, call, `interruption ${dice.seed}`);
    world.story.add(`Meanwhile, ${when} a caller sends ${eventText(call)} (${answer}).`);
  });
}

/** What operators do with the events that are built in. */
export function takesBuiltIn({ builtIns, job }: LifecycleModel): boolean {
  return builtIns && !job;
}
