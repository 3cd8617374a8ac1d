import { durationMs } from "../../base/duration.ts";
import { PawlError } from "../../base/errors.ts";
import { checkedOptions } from "../../base/options.ts";
import { takesPayload } from "../../definition/decide/decide.ts";
import { validate } from "../../definition/decide/validate.ts";
import { acceptLate, builtInEvents, type LifecycleModel } from "../../definition/model.ts";
import { suggest } from "../../definition/read/fault.ts";
import { acceptsNothing } from "../../definition/read/read.ts";
import { EffectLedger } from "../effect-ledger.ts";
import { declaredStates, exitsOf } from "../explore/exits.ts";
import { checkTestPawlOptions, type TestPawlOptions, testPawlOptionNames } from "../test-pawl.ts";
import { type ActKind, actKinds, defaultWeights } from "./act.ts";

/** Makes the data of a start, or the payload of an event; undefined for an event that is sent without one. */
export type Generator = ((given: object) => unknown) | undefined;

/** What may be sent to instances of a lifecycle, and how its payload is made. */
export type Sendable = ReadonlyMap<string, Generator>;

/** The options of `simulate`, checked, complete and without types. */
export interface Settings {
  readonly pawl: TestPawlOptions;
  /** By name. */
  readonly lifecycles: ReadonlyMap<string, LifecycleModel>;
  readonly start: ReadonlyMap<string, Generator>;
  readonly events: ReadonlyMap<string, Sendable>;
  readonly callbacks: ReadonlyMap<string, Sendable>;
  /** Events that cannot be sent, because no generator makes their payload: `order/graded`. */
  readonly unsendable: readonly string[];
  readonly invariants: ReadonlyMap<string, (world: object) => unknown>;
  readonly effects: EffectLedger;
  readonly beforeEach: (() => unknown) | undefined;
  readonly runs: number;
  readonly seed: number;
  readonly acts: number;
  readonly weights: Readonly<Record<ActKind, number>>;
  readonly settleMs: number;
  readonly leaseMs: number;
  readonly timeoutMs: number;
}

const ownOptions = [
  "invariant",
  "start",
  "events",
  "callbacks",
  "effects",
  "beforeEach",
  "runs",
  "seed",
  "acts",
  "weights",
  "settle",
  "leaseDuration",
  "timeout",
] as const;

type Untyped = TestPawlOptions & Readonly<Partial<Record<(typeof ownOptions)[number], unknown>>>;

export function checkedSettings(options: unknown): Settings {
  const given = checkedOptions(
    (options ?? null) as object,
    [...ownOptions, ...testPawlOptionNames],
    "simulate",
  ) as Untyped;
  checkTestPawlOptions(given, "simulate");
  const lifecycles = new Map(given.lifecycles.map((one) => [one.name, one as LifecycleModel]));
  const callbacks = checkedSendable(lifecycles, "callbacks", given.callbacks);
  const { events, unsendable } = withDefaults(
    lifecycles,
    checkedSendable(lifecycles, "events", given.events),
    callbacks,
  );
  const { effects = new EffectLedger(), beforeEach } = given;
  if (!(effects instanceof EffectLedger)) throw invalid("`effects` of `simulate` must be an EffectLedger.");
  if (beforeEach !== undefined && typeof beforeEach !== "function")
    throw invalid("`beforeEach` of `simulate` must be a function.");
  const leaseMs = durationMs(given.leaseDuration ?? "30s", "leaseDuration");
  if (leaseMs < 1) throw invalid("`leaseDuration` must be longer than 0 ms.");
  const timeoutMs = durationMs(given.timeout ?? "10s", "timeout");
  if (timeoutMs < 1) throw invalid("`timeout` must be longer than 0 ms.");
  const pawl = Object.fromEntries(testPawlOptionNames.map((name) => [name, given[name]])) as unknown as TestPawlOptions;
  return {
    pawl,
    lifecycles,
    start: checkedStart(lifecycles, given.start),
    events: sentOnly(events),
    callbacks: sentOnly(callbacks),
    unsendable,
    invariants: checkedInvariants(given.invariant),
    effects,
    beforeEach: beforeEach as (() => unknown) | undefined,
    runs: checkedNumber(given.runs, "runs", { least: 1, otherwise: 50 }),
    seed: checkedNumber(given.seed, "seed", { least: 0, otherwise: 1 }),
    acts: checkedNumber(given.acts, "acts", { least: 1, otherwise: 20 }),
    weights: checkedWeights(given, callbacks),
    settleMs: durationMs(given.settle ?? "1d", "settle"),
    leaseMs,
    timeoutMs,
  };
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}

function checkedInvariants(given: unknown): Settings["invariants"] {
  if (typeof given === "function") return new Map([["invariant", given as () => unknown]]);
  const entries = isObject(given) ? Object.entries(given) : [];
  if (entries.length === 0 || entries.some(([, one]) => typeof one !== "function"))
    throw invalid(
      "`simulate` needs `invariant`: a function of `{ instances, effects, atRest }`, or several by their names.",
    );
  return new Map(entries as [string, () => unknown][]);
}

function checkedStart(lifecycles: Settings["lifecycles"], given: unknown): Settings["start"] {
  if (given === undefined) {
    const free = [...lifecycles.values()].filter(({ data }) => validate(data, {}, "The data").faults === undefined);
    if (free.length > 0) return new Map(free.map(({ name }) => [name, undefined]));
    const [first] = lifecycles.keys();
    throw invalid(
      `\`simulate\` cannot start instances: each lifecycle needs data. Add \`start: { ${first}: ({ random }) => data }\`.`,
    );
  }
  const entries = isObject(given) ? Object.entries(given).filter(([, one]) => one !== undefined) : [];
  if (entries.length === 0)
    throw invalid("`start` of `simulate` must be an object with a function for each lifecycle that callers start.");
  for (const [name, generator] of entries) {
    refuseUnknownName(name, lifecycles.keys(), "`start` of `simulate` names", "lifecycle");
    if (typeof generator !== "function")
      throw invalid(`\`start.${name}\` of \`simulate\` must be a function that returns the data of a start.`);
  }
  return new Map(entries as [string, Generator][]);
}

/** As given: false for an event that is not to be sent. */
type GivenSendable = Map<string, Map<string, Generator | false>>;

function checkedSendable(lifecycles: Settings["lifecycles"], option: string, given: unknown = {}): GivenSendable {
  if (!isObject(given))
    throw invalid(`\`${option}\` of \`simulate\` must be an object: { order: { paid: () => payload } }.`);
  const checked: GivenSendable = new Map();
  for (const [name, events] of Object.entries(given)) {
    refuseUnknownName(name, lifecycles.keys(), `\`${option}\` of \`simulate\` names`, "lifecycle");
    if (events === undefined) continue;
    if (!isObject(events))
      throw invalid(`\`${option}.${name}\` of \`simulate\` must be an object: { paid: () => payload }.`);
    const lifecycle = lifecycles.get(name)!;
    checked.set(
      name,
      new Map(Object.entries(events).flatMap(([event, one]) => checkedEvent(lifecycle, option, event, one))),
    );
  }
  return checked;
}

function checkedEvent(
  lifecycle: LifecycleModel,
  option: string,
  event: string,
  given: unknown,
): [string, Generator | false][] {
  const place = `\`${option}.${lifecycle.name}.${event}\` of \`simulate\``;
  refuseUnknownName(event, eventsOf(lifecycle), `\`${option}.${lifecycle.name}\` of \`simulate\` names`, "event");
  if (given === undefined) return [];
  if (given === false || typeof given === "function") return [[event, given as Generator | false]];
  if (given !== true) throw invalid(`${place} must be a function that returns the payload, true or false.`);
  if (takesPayload(lifecycle, event) && !acceptsNothing(lifecycle.events.get(event)))
    throw invalid(`${place} is true, but the event needs a payload. Write a function that returns it.`);
  return [[event, undefined]];
}

function eventsOf(lifecycle: LifecycleModel): Set<string> {
  return new Set(lifecycle.edges.map(({ event }) => event).filter((event) => event !== acceptLate));
}

/** The default events of callers: those that a state waits for and that need no payload. */
function withDefaults(
  lifecycles: Settings["lifecycles"],
  given: GivenSendable,
  callbacks: GivenSendable,
): { events: GivenSendable; unsendable: string[] } {
  const unsendable: string[] = [];
  const events: GivenSendable = new Map();
  for (const lifecycle of lifecycles.values()) {
    const { name } = lifecycle;
    const own = new Map(given.get(name));
    const awaited = declaredStates(lifecycle).flatMap((state) => exitsOf(lifecycle, state));
    for (const { event, by } of awaited) {
      const isKnown = own.has(event) || callbacks.get(name)?.has(event) === true;
      if (by !== "caller" || isKnown || (builtInEvents as readonly string[]).includes(event)) continue;
      if (acceptsNothing(lifecycle.events.get(event))) own.set(event, undefined);
      else if (!unsendable.includes(`${name}/${event}`)) unsendable.push(`${name}/${event}`);
    }
    events.set(name, own);
  }
  return { events, unsendable };
}

function sentOnly(given: GivenSendable): Map<string, Sendable> {
  const sent = [...given].map(([name, events]): [string, Sendable] => {
    return [name, new Map([...events].filter((one): one is [string, Generator] => one[1] !== false))];
  });
  return new Map(sent.filter(([, events]) => events.size > 0));
}

function checkedWeights(given: Untyped, callbacks: GivenSendable): Settings["weights"] {
  const { weights = {}, outbox } = given;
  if (!isObject(weights)) throw invalid("`weights` of `simulate` must be an object: { crash: 2, race: 0 }.");
  for (const [kind, weight] of Object.entries(weights)) {
    refuseUnknownName(kind, actKinds, "`weights` of `simulate` names", "kind of act");
    if (weight !== undefined && !(typeof weight === "number" && Number.isFinite(weight) && weight >= 0))
      throw invalid(`\`weights.${kind}\` of \`simulate\` must be a number, 0 or more.`);
  }
  const chosen = Object.fromEntries(
    actKinds.map((kind) => [kind, (weights as Partial<Record<ActKind, number>>)[kind] ?? defaultWeights[kind]]),
  ) as Record<ActKind, number>;
  if (sentOnly(callbacks).size === 0) chosen.callback = 0;
  if (outbox === undefined) chosen.relay = 0;
  if (Object.values(chosen).every((weight) => weight === 0))
    throw invalid("`weights` of `simulate` are all 0. Set at least one of them above 0.");
  return chosen;
}

/** Seeds of dice have 32 bits. */
const maxNumber = 0xffff_ffff;

function checkedNumber(
  given: unknown,
  name: string,
  { least, otherwise }: { least: number; otherwise: number },
): number {
  if (given === undefined) return otherwise;
  if (Number.isSafeInteger(given) && (given as number) >= least && (given as number) <= maxNumber)
    return given as number;
  throw invalid(`\`${name}\` of \`simulate\` must be a whole number from ${least} to ${maxNumber}.`);
}

function refuseUnknownName(name: string, known: Iterable<string>, prefix: string, what: string): void {
  const names = [...known];
  if (!names.includes(name)) throw invalid(`${prefix} "${name}", but no such ${what} exists. ${suggest(name, names)}`);
}

function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}
