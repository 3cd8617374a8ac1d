import { failed } from "../../definition/model.ts";
import { Dice } from "../dice.ts";
import type { TestPawl } from "../test-pawl.ts";
import type { Act, ActKind } from "./act.ts";
import {
  answerOf,
  type Call,
  chooseCall,
  eventText,
  favorite,
  generate,
  send,
  takesBuiltIn,
  type Untyped,
  valueText,
} from "./calls.ts";
import { randomOf } from "./random.ts";
import type { World } from "./world.ts";

type Doing = (world: World, dice: Dice, act: Act) => Promise<void>;

/** Performs one act of a plan. Its subject is chosen among the instances that exist at that moment. */
export async function perform(world: World, act: Act): Promise<void> {
  await doing[act.kind](world, new Dice(act.dice), act);
}

/** So few that callers start the same one again, and that several are open at once. */
const keys = ["a", "b", "c", "d"];

const doing: Readonly<Record<ActKind, Doing>> = {
  start: async (world, dice, { isSimple }) => {
    const name = favorite(dice, "lifecycle", [...world.settings.start.keys()], (one) => one)!;
    const key = dice.pick("key", keys);
    const random = randomOf(dice, "data");
    const data = await generate(world, `start.${name}`, world.settings.start.get(name), { random, key });
    const isRace = !isSimple && dice.chance("twice", 0.15);
    const callers = isRace ? "Two callers start" : "A caller starts";
    const shown = data === undefined ? "" : ` with ${valueText(data)}`;
    const answers = await world.call((t) =>
      Promise.all((isRace ? [0, 1] : [0]).map(() => start(world, t, name, key, data))),
    );
    world.story.add(`${callers} ${name} ${JSON.stringify(key)}${shown}: ${answers.join("; ")}.`);
  },
  send: (world, dice) => sendTogether(world, dice, 1),
  race: (world, dice, { isSimple }) => sendTogether(world, dice, isSimple ? 1 : 2),
  callback: async (world, dice, { isSimple }) => {
    const call = await chooseCall(world, dice, "callbacks");
    if (call === undefined) return;
    const isError = dice.chance("error", 0.15);
    await bring(world, call, { dedupe: `result ${dice.seed}`, isError });
    if (!isSimple && dice.chance("twice", 0.3)) {
      const dedupe = dice.chance("other", 0.4) ? `another result ${dice.seed}` : `result ${dice.seed}`;
      await bring(world, call, { dedupe, isError });
    }
  },
  work: async (world) => void (await world.attempt((t) => t.work())),
  wait: async (world, dice, { isSimple }) => {
    const nextMs = isSimple || dice.chance("next", 0.45) ? await world.nextMomentMs() : undefined;
    const length = dice.weighted("length", { "1s": 2, "10s": 2, "31s": 4, "2m": 3, "10m": 3, "1h": 2, "1d": 1 });
    await world.attempt((t) => t.advance(nextMs ?? length));
  },
  fail: arm("fail"),
  failPermanently: arm("failPermanently"),
  stall: arm("stall"),
  interrupt: arm("interrupt"),
  crash: async (world, dice) => {
    world.condemn(dice.chance("effect", 0.5) ? { at: "effect" } : { at: "any", visits: dice.between("visits", 1, 12) });
  },
  relay: async (world) => {
    const sent = await world.attempt((t) => t.relay());
    if (sent !== undefined && sent.result.length > 0)
      world.story.add(`The outbox is sent: ${sent.result.length} messages.`);
  },
  recover: operate((one) => one.instance.state === failed),
  restart: operate((one) => one.instance.outcome !== "discarded"),
  discard: operate((one) => one.instance.outcome === null),
};

async function start(world: World, t: TestPawl, name: string, key: string, data: unknown): Promise<string> {
  const lifecycle = world.settings.lifecycles.get(name)!;
  return answerOf(`start.${name}`, async () => {
    const pawl = t.pawl as Untyped;
    const started = lifecycle.job
      ? await pawl.enqueue(lifecycle, data, { key })
      : await pawl.start(lifecycle, { key, data });
    return started.created ? "started" : "it already existed";
  });
}

/** Callers send events to one instance at the same time. */
async function sendTogether(world: World, dice: Dice, callers: number): Promise<void> {
  const first = await chooseCall(world, dice, "events");
  if (first === undefined) return;
  const calls: Call[] = [first];
  for (let caller = 1; caller < callers; caller++) {
    const own = dice.chance("same event", 0.6) ? dice : dice.for(`caller ${caller}`);
    calls.push((await chooseCall(world, own, "events", [first.to])) ?? first);
  }
  const answers = await world.call((t) =>
    Promise.all(calls.map((call, caller) => send(t, call, `send ${dice.seed} ${caller}`))),
  );
  const texts = calls.map((call, caller) => `${eventText(call)} (${answers[caller]})`);
  const who = callers === 1 ? "A caller sends" : "At the same time callers send";
  world.story.add(`${who} ${texts.join(" and ")} to ${first.to.name}.`);
}

/** An external service sends a result or an error. */
async function bring(
  world: World,
  { to, event, payload }: Call,
  { dedupe, isError }: { readonly dedupe: string; readonly isError: boolean },
): Promise<void> {
  const { lifecycle, id } = to;
  const error = { message: "the service failed" };
  const answer = await world.call((t) =>
    answerOf(`callbacks.${lifecycle.name}.${event}`, async () => {
      const pawl = t.pawl as Untyped;
      const received = isError
        ? await t.pawl.callbacks.receiveError(lifecycle, { id }, event, error, { dedupeKey: dedupe })
        : await pawl.receive(lifecycle, { id }, event, payload, { dedupeKey: dedupe });
      const notes = [received.late ? "late" : "", received.duplicate ? "a duplicate" : ""].filter(
        (note) => note !== "",
      );
      return [received.status, ...notes].join(", ");
    }),
  );
  const what = isError ? `an error for \`${event}\`` : eventText({ event, payload });
  world.story.add(`A service brings ${what} to ${to.name}: ${answer}.`);
}

function arm(kind: "fail" | "failPermanently" | "stall" | "interrupt"): Doing {
  return async (world, dice) => {
    const when = dice.chance("after", 0.6) ? "after" : "before";
    world.expose({ kind, when, left: dice.pick("left", [0, 0, 0, 1, 2, 4]), dice });
  };
}

/** An operator sends the event that is called like the act. */
function operate(isMeant: (one: World["instances"][number]) => boolean): Doing {
  return async (world, dice, { kind }) => {
    const candidates = world.instances.filter((one) => takesBuiltIn(one.lifecycle) && isMeant(one));
    const to = favorite(dice, "instance", candidates, ({ name }) => name);
    if (to === undefined) return;
    const answer = await world.call((t) => send(t, { to, event: kind, payload: undefined }, `operator ${dice.seed}`));
    world.story.add(`An operator sends \`${kind}\` (${answer}) to ${to.name}.`);
  };
}
