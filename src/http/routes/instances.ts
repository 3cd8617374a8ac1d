import { builtInEvents } from "../../definition/model.ts";
import type { Route } from "../api/route.ts";
import { about, anything, duration, flag, id, listOf, moment, record, text, whole } from "../api/schema.ts";
import { cause, page } from "./arguments.ts";
import { callback, callbackStatus, received } from "./callbacks.ts";
import { children, instance, journal, permitted, recovery, started } from "./instance-answer.ts";

const sending = {
  payload: anything,
  expectedVersion: about(whole, "Refuse it unless the instance is at this version."),
  after: duration,
  at: moment,
};

/** Each of these is found by the instance's id, and by its lifecycle and key. */
function ofInstance(route: Omit<Route, "tag" | "path"> & { readonly path: string }): Route[] {
  return [
    { ...route, tag: "Instances", path: `/instances/{id}${route.path}` },
    { ...route, tag: "Instances", path: `/lifecycles/{lifecycle}/keys/{key}${route.path}` },
  ];
}

export const instanceRoutes: readonly Route[] = [
  {
    method: "post",
    path: "/lifecycles/{lifecycle}/instances",
    verb: "start",
    may: "send",
    tag: "Instances",
    summary: "Start an instance. The same key again answers with the instance that has it.",
    takes: { key: text, data: record, ...cause },
    answers: started,
  },
  {
    method: "get",
    path: "/lifecycles/{lifecycle}/instances",
    verb: "find",
    may: "look",
    tag: "Instances",
    summary: "The instances of a lifecycle, newest first, by pages.",
    takes: { state: listOf(text), parent: id, failure: text, ...page },
    answers: listOf(instance),
  },
  ...ofInstance({ method: "get", path: "", verb: "get", may: "look", summary: "One instance.", answers: instance }),
  ...ofInstance({
    method: "get",
    path: "/journal",
    verb: "journal",
    may: "look",
    summary: "All moves of an instance, in their order; with `attempts` also what was tried without moving it.",
    takes: { attempts: flag },
    answers: journal,
  }),
  ...ofInstance({
    method: "get",
    path: "/permitted",
    verb: "permitted",
    may: "look",
    summary: "What may be sent now: yes, no with the reasons, or it depends on the payload.",
    answers: listOf(permitted),
  }),
  ...ofInstance({
    method: "get",
    path: "/children",
    verb: "children",
    may: "look",
    summary: "How many children of its present run stand how, and the first of them.",
    takes: { limit: whole },
    answers: children,
  }),
  ...ofInstance({
    method: "get",
    path: "/recovery",
    verb: "explainRecovery",
    may: "look",
    summary: "Where a failed instance would go on, and why there.",
    answers: recovery,
  }),
  ...ofInstance({
    method: "get",
    path: "/wait",
    verb: "wait",
    may: "look",
    summary: "Answers when the instance stands in one of these states, or has ended when none is named.",
    takes: { until: listOf(text), timeout: duration },
    answers: instance,
  }),
  ...ofInstance({
    method: "get",
    path: "/callbacks",
    verb: "callbacks",
    operation: "callbacksOfInstance",
    may: "look",
    summary: "What came in from outside for one instance, newest first, by pages.",
    takes: { status: callbackStatus, late: flag, ...page },
    answers: listOf(callback),
  }),
  ...ofInstance({
    method: "post",
    path: "/events/{event}",
    verb: "send",
    may: "send",
    reserved: { name: "event", values: builtInEvents, may: "operate" },
    summary: "Send an event.",
    takes: { ...sending, ...cause },
    answers: instance,
  }),
  ...ofInstance({
    method: "post",
    path: "/callbacks/{event}",
    verb: "receive",
    may: "send",
    summary:
      "Bring a result from outside, or the word that it failed. It is stored first, and the same one twice counts once.",
    takes: {
      payload: anything,
      error: record,
      dedupe: about(text, "What its sender calls it; or as `Idempotency-Key`."),
    },
    answers: received,
  }),
];
