import { isPawlError, type Pawl, PawlError } from "pawl";
import { Dice } from "../../../src/testing/dice.ts";
import type { Answer, Call } from "../checks/ledger.ts";
import { breakerName } from "../code/names.ts";
import { type Act, type LifecyclePlan, namesOf } from "../plan/plan.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { Call as Asked, World } from "./world.ts";

type Of<Kind extends Act["kind"]> = Extract<Act, { kind: Kind }>;
type Doing = { [Kind in Act["kind"]]: (world: World, act: Of<Kind>, dice: Dice) => Promise<void> };

// biome-ignore lint/suspicious/noExplicitAny: plans are drawn at run time, so no event is known to the compiler.
type Untyped = any;

/** Does one act of a plan. */
export async function perform(world: World, act: Act, at: number): Promise<void> {
  const { dice, ...shown } = act;
  world.tell(`${at}. ${JSON.stringify(shown)}`);
  if (!("name" in act)) world.note(act.kind);
  await doing[act.kind](world, act as never, new Dice(dice));
  await world.database.settle();
  await world.look();
}

const doing: Doing = {
  start: async (world, { lifecycle, inTransaction, ...act }, dice) => {
    for (const name of namesOf(act)) await startOne(world, name, { lifecycle, inTransaction }, dice);
  },
  send: async (world, act, dice) => {
    const standing = await world.standing(act.name);
    if (standing === undefined) return;
    const plan = world.plan.lifecycles.find((one) => one.name === standing.lifecycle);
    if (plan === undefined) return;
    const event = eventFor(plan, standing.state, dice);
    world.note(`send: ${act.with}`, act.name);
    const many = act.with === "together" ? 3 : act.with === "key" ? 2 : 1;
    const marks: string[] = [];
    const process = pick(world, dice);
    if (process === undefined) return;
    const of = world.lifecycleAt(process, standing.lifecycle);
    const calls: ReturnType<typeof beginCall>[] = [];
    for (let each = 0; each < many; each++) {
      const what = act.with === "delay" ? "delayed" : "send";
      const mark = world.newMark();
      marks.push(mark);
      const payload = payloadOf(event, act.with === "key" ? "same" : mark, dice);
      const options = {
        // With a key the second call is the first one, repeated.
        actor: act.with === "key" ? marks[0] : mark,
        ...(act.with === "key" ? { idempotencyKey: `key ${act.dice}` } : {}),
        ...(act.with === "delay" ? { after: dice.pick("after", ["1s", "2m", "3h"]) } : {}),
      };
      const send = (pawl: Untyped, more: object) =>
        payload === undefined
          ? pawl.send(of, act.name, event, { ...options, ...more })
          : pawl.send(of, act.name, event, payload, { ...options, ...more });
      const isInTransaction = act.with === "tx" || act.with === "rollback";
      const work = (pawl: Pawl) =>
        isInTransaction
          ? pawl.transaction(async (tx) => {
              await send(pawl, { tx });
              if (act.with === "rollback") throw new Error("The caller rolls its transaction back.");
            })
          : (send(pawl, {}) as Promise<unknown>);
      // A repeated call is the first one's: it leaves no rows of its own.
      const isRepeat = act.with === "key" && each > 0;
      calls.push(beginCall(world, process, isRepeat ? undefined : { what, name: act.name }, mark, work));
    }
    await world.answered(calls.map(({ asked: one }) => one));
    for (const { note } of calls) note();
  },
  "built in": async (world, { name, event }, dice) => {
    const standing = await world.standing(name);
    if (standing === undefined) return;
    world.note("built in", name);
    await ask(world, dice, { what: "send", name }, (pawl, process, actor) =>
      (pawl as Untyped).send(world.lifecycleAt(process, standing.lifecycle), name, event, undefined, { actor }),
    );
  },
  callback: async (world, { name, by, isError }, dice) => {
    const result = isError
      ? { error: { message: "the service failed" } }
      : { payload: { value: dice.pick("value", [null, 1, 2]) } };
    const dedupe = `callback ${dice.seed}`;
    if (by === "token") {
      const tokens = world.ledger.tokens.filter((one) => one.name === name);
      if (tokens.length === 0) return;
      const { token } = dice.pick("token", tokens);
      for (let each = 0; each < 2; each++)
        await ask(world, dice, undefined, (pawl) =>
          pawl.callbacks.receiveByToken(token, result, { dedupeKey: dedupe }),
        );
      return;
    }
    const standing = await world.standing(name);
    const plan = world.plan.lifecycles.find((one) => one.name === standing?.lifecycle);
    const at = plan?.stages.findIndex((stage) => stage.kind === "callback") ?? -1;
    if (standing === undefined || at < 0) return;
    await ask(world, dice, { what: "callback", name }, (pawl, process, mark) => {
      const of = world.lifecycleAt(process, standing.lifecycle);
      const options = { dedupeKey: mark, actor: mark };
      return isError
        ? (pawl.callbacks as Untyped).receiveError(of, name, `c${at}`, { message: "the service failed" }, options)
        : (pawl as Untyped).receive(of, name, `c${at}`, result.payload, options);
    });
  },
  label: async (world, { labeler, does }, dice) => {
    await ask(world, dice, undefined, async (pawl) => {
      for (let count = 0; count < 3; count++) {
        const { assignment } = await pawl.people.next("opinions", labeler);
        if (assignment === null || assignment === undefined) return;
        world.note("assignment");
        await pawl.people.start(assignment.id, labeler);
        if (does === "hold") return;
        if (does === "skip") await pawl.people.skip(assignment.id, labeler, { reason: "too hard" });
        else await pawl.people.submit(assignment.id, labeler, { good: dice.chance(`good ${count}`, 0.6) });
      }
    });
  },
  labeler: async (world, { labeler, active }, dice) => {
    await ask(world, dice, undefined, (pawl) => pawl.people.upsertLabeler({ id: labeler, active }));
  },
  pause: async (world, { lifecycle }, dice) => {
    const plan = world.plan.lifecycles[lifecycle]!;
    const answer = await ask(world, dice, undefined, (pawl, process) =>
      pawl.lanes.pause(world.lifecycleAt(process, plan.name), { reason: "a look", actor: "ada" } as never),
    );
    if (answer === "done") world.closed("a pause", plan.name);
  },
  resume: async (world, _, dice) => {
    await resumeAll(world, dice);
  },
  breaker: async (world, { force }, dice) => {
    if (force !== "open") world.opened("its breaker");
    const answer = await ask(world, dice, undefined, (pawl) =>
      pawl.breakers.force(breakerName, force === "release" ? null : force, { reason: "a look", actor: "ada" }),
    );
    if (answer === "done" && force === "open") world.closed("its breaker", undefined);
  },
  "dead letter": async (world, { decide }, dice) => {
    await ask(world, dice, undefined, async (pawl) => {
      const [letter] = await pawl.deadLetters.list({ limit: 1 });
      if (letter === undefined) return;
      world.note(`letter: ${decide}`);
      if (decide === "discard") await pawl.deadLetters.discard(letter.id, { actor: "ada" });
      else
        await pawl.deadLetters.requeue(letter.id, { actor: "ada", ...(decide === "restart" ? { restart: true } : {}) });
    });
  },
  "late result": async (world, _, dice) => {
    await ask(world, dice, undefined, async (pawl) => {
      const [late] = await pawl.callbacks.list({ late: true, status: "kept", limit: 1 });
      if (late === undefined) return;
      world.note("late result");
      await pawl.callbacks.acceptLate(late.id, { actor: "ada" });
    });
  },
  "run schedule": async (world, _, dice) => {
    await ask(world, dice, undefined, (pawl) => pawl.schedules.runNow("pulse"));
  },
  pass: async (world, { seconds }) => {
    await world.revive();
    await world.pass(seconds * 1_000);
  },
  jump: async (world, { minutes }) => {
    world.disturbed();
    await world.jump(minutes * 60_000);
    world.disturbed();
  },
  kill: async (world, { process }) => world.slots[process]?.process.kill(),
  stop: async (world, { process }) => {
    const slot = world.slots[process];
    if (slot !== undefined) await world.replace(process, slot.newerBy);
  },
  upgrade: async (world, { process }) => {
    if (world.slots[process] !== undefined) await world.replace(process, 1);
  },
  "statement fault": async (world, { process, fault, nth }) => world.slots[process]?.process.failStatement(fault, nth),
  "fault point": async (world, { process, point, does, nth }) =>
    world.slots[process]?.process.failPoint(point, does, nth),
  outage: async (world, { seconds }) => {
    world.database.awayUntilMs = world.time.nowMs + seconds * 1_000;
  },
  clock: async (world, { minutes }) => {
    world.database.aheadMs += minutes * 60_000;
    world.disturbed();
  },
};

/** Opens every lane that somebody has paused, and lets go of the breaker. */
export async function resumeAll(world: World, dice: Dice): Promise<void> {
  world.opened("a pause");
  for (const { name } of world.plan.lifecycles)
    await ask(world, dice, undefined, (pawl, process) =>
      pawl.lanes.resume(world.lifecycleAt(process, name), { actor: "ada" } as never),
    );
}

async function startOne(
  world: World,
  name: string,
  { lifecycle, inTransaction }: Pick<Of<"start">, "lifecycle" | "inTransaction">,
  dice: Dice,
): Promise<void> {
  const known = world.names.get(name) ?? parentsOf(world)[lifecycle]!.name;
  world.names.set(name, known);
  if (inTransaction) world.note("tx", name);
  await ask(world, dice.for(name), { what: "start", name }, (pawl, process, mark) => {
    const of = world.lifecycleAt(process, known);
    const options = { key: name, data: { name }, actor: mark } as Untyped;
    if (!inTransaction) return pawl.start(of, options);
    return pawl.transaction(async (tx) => {
      // A refusal of another call on the same transaction takes nothing of this one back.
      const [started] = await Promise.all([
        pawl.start(of, { ...options, tx }),
        pawl.trySend(of, "nobody", "cancel" as never, ...([{ tx }] as never[])),
      ]);
      return started;
    });
  });
}

function parentsOf({ plan }: World): LifecyclePlan[] {
  return plan.lifecycles.filter((one) => !one.isChild);
}

function eventFor(plan: LifecyclePlan, state: string, dice: Dice): string {
  const at = plan.stages.findIndex((stage) => stage.name === state);
  const own = at < 0 ? "e0" : `e${at}`;
  return dice.weighted("event", { [own]: 6, note: 3, cancel: 0.5, e0: 0.5, recover: 0.3 } as Record<string, number>);
}

function payloadOf(event: string, mark: string, dice: Dice): unknown {
  if (event === "note") return { mark };
  return event.startsWith("c") && event !== "cancel" ? { value: dice.pick("value", [null, 1, 2]) } : undefined;
}

function pick(world: World, dice: Dice): SimulatedProcess | undefined {
  const ready = world.ready();
  return ready.length === 0 ? undefined : dice.pick("process", ready);
}

async function ask(
  world: World,
  dice: Dice,
  call: Omit<Call, "answer"> | undefined,
  work: (pawl: Pawl, process: SimulatedProcess, mark: string) => Promise<unknown>,
): Promise<Answer> {
  const process = pick(world, dice);
  if (process === undefined) return "not done";
  const mark = world.newMark();
  return asked(world, process, call, mark, (pawl) => work(pawl, process, mark));
}

async function asked(
  world: World,
  process: SimulatedProcess,
  call: Omit<Call, "answer"> | undefined,
  mark: string,
  work: (pawl: Pawl) => Promise<unknown>,
): Promise<Answer> {
  const end = beginCall(world, process, call, mark, work);
  await world.answered([end.asked]);
  return end.note();
}

/** Begins a call that is in the ledger before it is made; `note` writes down what it was told. */
function beginCall(
  world: World,
  process: SimulatedProcess,
  call: Omit<Call, "answer"> | undefined,
  mark: string,
  work: (pawl: Pawl) => Promise<unknown>,
): { readonly asked: Asked; readonly note: () => Answer } {
  if (call !== undefined) world.ledger.begin(mark, call);
  const begun = world.begin(process, work);
  const note = () => {
    const answer = answerOf(world, begun);
    if (call !== undefined) world.ledger.answer(mark, answer);
    const why = begun.answer?.ok === false ? ` ${messageOf(begun.answer.error)}` : "";
    world.tell(`   ${mark}: ${answer}${why}`);
    return answer;
  };
  return { asked: begun, note };
}

function messageOf(error: unknown): string {
  return error instanceof PawlError ? `${error.code}: ${error.message}` : String(error);
}

function answerOf(world: World, { answer }: Asked): Answer {
  if (answer === undefined) return "unknown";
  if (answer.ok) return "done";
  const { error } = answer;
  if (isPawlError(error, "outcome_unknown")) return "unknown";
  if (isPawlError(error, "invariant_broken")) {
    const { stack } = (error.cause ?? error) as Error;
    world.ledger.problem(`a call was answered with ${error.message} ${stack ?? ""}`);
    return "unknown";
  }
  return "not done";
}
