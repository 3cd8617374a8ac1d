import type { Duration } from "../base/duration.ts";
import type { AnyLifecycle } from "../definition/language/face.ts";
import type { InstanceRef, StartCallOptions } from "../given.ts";
import type { Pawl } from "../pawl.ts";
import type { Instance, StartedInstance } from "../shown.ts";
import { causeOf, type DispatchOptions, lifecycleMeant, lifecycleOf, refOf, statesOf, type Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

const instance = ["lifecycle", "key", "id"];
const cause = ["actor", "reason"];
const sending = ["event", "payload", "expectedVersion", "idempotencyKey", "after", "at"];

/** The verbs about instances: by lifecycle and key, or by the id alone. */
export const instanceVerbs: readonly (readonly [string, Verb])[] = [
  ["start", { takes: ["lifecycle", "key", "data", ...cause], answer: start }],
  ["send", { takes: [...instance, ...sending, ...cause], answer: send }],
  ["get", { takes: instance, answer: async (pawl, args) => pawl.get(await lifecycleMeant(pawl, args), refOf(args)) }],
  ["find", { takes: ["lifecycle", "state", "parent", "failure", "limit", "after"], answer: find }],
  ["oldest", { takes: ["lifecycle", "state", "limit"], answer: oldest }],
  ["search", { takes: ["text", "limit"], answer: search }],
  ["children", { takes: [...instance, "limit"], answer: children }],
  ["permitted", { takes: [...instance, "actor"], answer: permitted }],
  ["journal", { takes: [...instance, "attempts"], answer: journal }],
  ["wait", { takes: [...instance, "until", "timeout"], answer: wait }],
  ["explainRecovery", { takes: instance, answer: explainRecovery }],
];

/**
 * The verbs without their types: what a definition would let the compiler check, a client by name can only be told at
 * run time, by the same checks that guard every call.
 */
interface UntypedVerbs {
  start(
    lifecycle: AnyLifecycle,
    options: StartCallOptions & { key?: string | undefined; data?: unknown },
  ): Promise<StartedInstance>;
  send(lifecycle: AnyLifecycle, ref: InstanceRef, event: string, payload: unknown, options: object): Promise<Instance>;
}

function start(pawl: Pawl, args: Arguments): Promise<StartedInstance> {
  const data = args.value("data");
  const key = args.optionalText("key");
  return (pawl as unknown as UntypedVerbs).start(lifecycleOf(pawl, args), { key, data, ...causeOf(args) });
}

async function send(pawl: Pawl, args: Arguments): Promise<Instance> {
  const options = {
    ...causeOf(args),
    expectedVersion: args.number("expectedVersion"),
    idempotencyKey: args.optionalText("idempotencyKey"),
    after: args.value("after") as Duration | undefined,
    at: args.moment("at"),
  };
  const [event, payload] = [args.text("event"), args.value("payload")];
  return (pawl as unknown as UntypedVerbs).send(await lifecycleMeant(pawl, args), refOf(args), event, payload, options);
}

function find(pawl: Pawl, args: Arguments): Promise<Instance[]> {
  const lifecycle = lifecycleOf(pawl, args);
  const [after, parent] = [args.optionalText("after"), args.optionalText("parent")];
  return pawl.find(lifecycle, {
    state: statesOf(lifecycle, args, "state"),
    parent: parent === undefined ? undefined : { id: parent },
    failure: args.optionalText("failure"),
    limit: args.number("limit"),
    after: after === undefined ? undefined : { id: after },
  });
}

function oldest(pawl: Pawl, args: Arguments): Promise<Instance[]> {
  return pawl.oldest(lifecycleOf(pawl, args), args.text("state"), { limit: args.number("limit") });
}

function search(pawl: Pawl, args: Arguments): Promise<Instance[]> {
  return pawl.search(args.text("text"), { limit: args.number("limit") });
}

async function children(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.children(await lifecycleMeant(pawl, args), refOf(args), { limit: args.number("limit") });
}

async function permitted(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.permitted(await lifecycleMeant(pawl, args), refOf(args), { actor: args.optionalText("actor") });
}

async function journal(pawl: Pawl, args: Arguments): Promise<unknown> {
  const [lifecycle, ref] = [await lifecycleMeant(pawl, args), refOf(args)];
  return args.flag("attempts") ? pawl.journal(lifecycle, ref, { attempts: true }) : pawl.journal(lifecycle, ref);
}

async function wait(pawl: Pawl, args: Arguments, { signal }: DispatchOptions): Promise<Instance> {
  const lifecycle = await lifecycleMeant(pawl, args);
  const until = statesOf(lifecycle, args, "until");
  return pawl.wait(lifecycle, refOf(args), { until, timeout: args.value("timeout") as Duration | undefined, signal });
}

async function explainRecovery(pawl: Pawl, args: Arguments): Promise<unknown> {
  return pawl.explainRecovery(await lifecycleMeant(pawl, args), refOf(args));
}
