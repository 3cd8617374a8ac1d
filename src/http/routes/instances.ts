import type { InstanceRef, ReportedError } from "../../api/arguments/options.ts";
import type { Pawl } from "../../api/pawl.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { builtInEvents } from "../../definition/model.ts";
import { type Arguments, type Caller, type Route, type Row, routesOf, type Takes } from "../api/route.ts";
import { about, anything, duration, flag, id, listOf, moment, record, shape, text, whole } from "../api/schema.ts";
import { lifecycleNamed, statesOf, type Target, targetOf } from "../api/targets.ts";
import { actor, after, cause, page, repeat } from "../api/usual-arguments.ts";
import type { InstanceCountResponse } from "../contract.ts";
import { callback, callbackStatus, received } from "./callbacks.ts";
import { explanation } from "./responses/explanation-response.ts";
import { children, history, instance, journal, permitted, started } from "./responses/instance-response.ts";

const sending = {
  payload: anything,
  expectedVersion: about(whole, "Fail if the instance is not at this version."),
  after: duration,
  at: moment,
};

/** Which instances of a lifecycle. */
export const instanceFilter = {
  state: listOf(text),
  key: about(text, "Only instances whose key starts with this text."),
  parent: about(id, "Only children of this instance."),
  failure: about(text, "Only instances that failed for this reason, such as `attempts_used_up`."),
  olderThan: about(duration, "Only instances that started at least this long ago."),
  idleFor: about(duration, "Only instances that have not moved for at least this long."),
};

function filterOf(lifecycle: AnyLifecycle, { state, parent, ...rest }: Arguments<"", typeof instanceFilter, never>) {
  return { ...rest, state: statesOf(lifecycle, state), parent: after(parent) };
}

const { get, post } = routesOf("Instances");

/** Each of these is found by the instance's id, and by its lifecycle and key. */
function ofInstance<
  const Name extends string,
  const Verb extends "get" | "post",
  const Place extends string,
  // biome-ignore lint/complexity/noBannedTypes: a row that takes nothing has no names at all.
  T extends Takes = {},
  const Needs extends keyof T & string = never,
  Answer = unknown,
>(
  method: Verb,
  name: Name,
  place: Place,
  right: Route["right"],
  row: Omit<Row<Place, T, Needs, Answer>, "call"> & {
    readonly call: (pawl: Pawl, target: Target, args: Arguments<Place, T, Needs>, caller: Caller) => unknown;
  },
): [
  Route<Name, Answer, Verb, `/instances/{id}${Place}`, keyof T & string>,
  Route<`${Name}ByKey`, Answer, Verb, `/lifecycles/{lifecycle}/keys/{key}${Place}`, keyof T & string>,
] {
  const call: Route["call"] = async (
    pawl,
    { id, lifecycle, key, ...args }: { id?: string; lifecycle?: string; key?: string },
    caller,
  ) => row.call(pawl, await targetOf(pawl, { id, lifecycle, key }), args as Arguments<Place, T, Needs>, caller);
  const route = { ...row, method, right, tag: "Instances", call } as const;
  return [
    { ...route, name, path: `/instances/{id}${place}` },
    { ...route, name: `${name}ByKey`, path: `/lifecycles/{lifecycle}/keys/{key}${place}` },
  ];
}

/**
 * The calls without their types: for a client by name, what the compiler would check is checked at run time, as for
 * every call.
 */
interface Untyped {
  start(lifecycle: AnyLifecycle, options: object): Promise<unknown>;
  send(lifecycle: AnyLifecycle, ref: InstanceRef, event: string, payload: unknown, options: object): Promise<unknown>;
}

export const instanceRoutes = [
  post("start", "/lifecycles/{lifecycle}/instances", "send", {
    summary: "Start an instance. An existing key returns its instance.",
    takes: { key: text, data: record, ...cause },
    answer: started,
    call: (pawl, { lifecycle, ...options }) =>
      (pawl as unknown as Untyped).start(lifecycleNamed(pawl, lifecycle), options),
  }),
  get("listInstances", "/lifecycles/{lifecycle}/instances", "read", {
    summary: "List the instances of a lifecycle by page, newest first; by key if `key` is given.",
    takes: { ...instanceFilter, ...page },
    answer: listOf(instance),
    call: (pawl, { lifecycle: name, after: last, limit, ...chosen }) => {
      const lifecycle = lifecycleNamed(pawl, name);
      return pawl.list(lifecycle, { ...filterOf(lifecycle, chosen), limit, after: after(last) });
    },
  }),
  get("count", "/lifecycles/{lifecycle}/instances/count", "read", {
    summary: "Count the instances that the list with the same filter has.",
    takes: instanceFilter,
    answer: shape<InstanceCountResponse>({
      count: whole,
      more: about(flag, "Whether there may be more: at most 10,000 are read to count them."),
    }),
    call: (pawl, { lifecycle: name, ...chosen }) => {
      const lifecycle = lifecycleNamed(pawl, name);
      return pawl.inspect.count(lifecycle, filterOf(lifecycle, chosen));
    },
  }),
  ...ofInstance("get", "get", "", "read", {
    summary: "Get an instance.",
    answer: instance,
    call: (pawl, { lifecycle, ref }) => pawl.get(lifecycle, ref),
  }),
  ...ofInstance("get", "journal", "/journal", "read", {
    summary: "List the moves of an instance, in order.",
    answer: journal,
    call: (pawl, { lifecycle, ref }) => pawl.journal(lifecycle, ref),
  }),
  ...ofInstance("get", "history", "/history", "read", {
    summary: "List the moves and all attempts of an instance, in order of time.",
    answer: history,
    call: (pawl, { lifecycle, ref }) => pawl.history(lifecycle, ref),
  }),
  ...ofInstance("get", "allowedEvents", "/allowed-events", "read", {
    summary: "List the events of the current state: allowed, refused with reasons, or dependent on the payload.",
    takes: actor,
    answer: listOf(permitted),
    call: (pawl, { lifecycle, ref }, { actor }) => pawl.allowedEvents(lifecycle, ref, { actor }),
  }),
  ...ofInstance("get", "children", "/children", "read", {
    summary: "Count the children of the current run by outcome, and list the first of them.",
    takes: { limit: whole },
    answer: children,
    call: (pawl, { lifecycle, ref }, { limit }) => pawl.children(lifecycle, ref, { limit }),
  }),
  ...ofInstance("get", "explain", "/explain", "read", {
    summary: "Explain what an instance waits for, what happens next, and whether it is stuck.",
    answer: explanation,
    call: (pawl, { lifecycle, ref }) => pawl.explain(lifecycle, ref),
  }),
  ...ofInstance("get", "wait", "/wait", "read", {
    summary: "Wait until the instance is in one of these states; without states, until it has ended.",
    takes: { until: listOf(text), timeout: duration },
    waits: true,
    answer: instance,
    call: (pawl, { lifecycle, ref }, { until, timeout }, { signal }) =>
      pawl.wait(lifecycle, ref, { until: statesOf(lifecycle, until), timeout, signal }),
  }),
  ...ofInstance("get", "callbacksOfInstance", "/callbacks", "read", {
    summary: "List the callbacks of an instance, newest first, by page.",
    takes: { status: callbackStatus, late: flag, ...page },
    answer: listOf(callback),
    call: (pawl, { lifecycle, ref }, { after: last, ...filter }) =>
      pawl.callbacks.list({ ...filter, lifecycle, instance: ref, after: after(last) }),
  }),
  ...ofInstance("post", "send", "/events/{event}", "send", {
    summary: "Send an event to an instance.",
    reserved: { name: "event", values: builtInEvents, right: "operate" },
    takes: { ...sending, ...cause, ...repeat },
    answer: instance,
    call: (pawl, { lifecycle, ref }, { event, payload, ...options }) =>
      (pawl as unknown as Untyped).send(lifecycle, ref, event, payload, options),
  }),
  ...ofInstance("post", "receive", "/callbacks/{event}", "send", {
    summary: "Receive a result or an error from an external system. It is stored first; duplicates are applied once.",
    takes: {
      payload: anything,
      error: record,
      dedupeKey: about(text, "The sender's id for it; or send `Idempotency-Key`."),
      ...actor,
    },
    needs: ["dedupeKey"],
    answer: received,
    call: (pawl, { lifecycle, ref }, { event, payload, error, dedupeKey, actor }) =>
      error === undefined
        ? pawl.receive(lifecycle, ref, event, payload, { dedupeKey, actor })
        : pawl.callbacks.receiveError(lifecycle, ref, event, error as unknown as ReportedError, { dedupeKey, actor }),
  }),
];
