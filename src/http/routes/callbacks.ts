import { routesOf } from "../api/route.ts";
import { about, anything, flag, id, listOf, moment, named, oneOf, orNull, shape, text, whole } from "../api/schema.ts";
import { lifecycleIfNamed, unknown } from "../api/targets.ts";
import { after, cause, page } from "../api/usual-arguments.ts";
import type { CallbackAnswer, ReceivedAnswer } from "../contract.ts";
import { instance } from "./answers/instance-answer.ts";

export const callbackStatus = oneOf("waiting", "applied", "kept", "rejected", "refused", "accepted");

export const callback = named(
  "Callback",
  shape<CallbackAnswer>({
    id,
    lifecycle: text,
    instance: id,
    key: orNull(text),
    event: text,
    dedupeKey: about(text, "What its sender calls it."),
    source: oneOf("call", "token", "step"),
    actor: orNull(text),
    payload: anything,
    error: orNull(shape<NonNullable<CallbackAnswer["error"]>>({ name: text, message: text, code: text }, ["code"])),
    receivedAt: moment,
    isLate: flag,
    status: callbackStatus,
    reason: orNull(text),
    version: about(orNull(whole), "The move that it made."),
    settledAt: orNull(moment),
  }),
);

export const received = shape<ReceivedAnswer>({
  id,
  accepted: about(flag, "It counts, or may: it was applied, waits for its instance, or was kept as late."),
  late: flag,
  duplicate: about(flag, "It was there already: this is the answer that it got at first."),
  status: callbackStatus,
  reason: orNull(text),
  receivedAt: moment,
});

const { get, post } = routesOf("Callbacks");

export const callbackRoutes = [
  get("callbacks", "/callbacks", "look", {
    summary: "What came in from outside, newest first, by pages.",
    takes: { lifecycle: text, status: callbackStatus, late: flag, ...page },
    answer: listOf(callback),
    call: (pawl, { lifecycle, after: last, ...filter }) =>
      pawl.callbacks.list({ ...filter, lifecycle: lifecycleIfNamed(pawl, lifecycle), after: after(last) }),
  }),
  get("callback", "/callbacks/{id}", "look", {
    summary: "One callback.",
    answer: callback,
    call: async (pawl, { id }) =>
      (await pawl.callbacks.get(id)) ??
      unknown("callback_unknown", `There is no callback with the id ${id}.`, { callback: id }),
  }),
  post("acceptLate", "/callbacks/{id}/accept", "operate", {
    summary: "Accept a result that came after the deadline and was kept.",
    takes: cause,
    answer: instance,
    call: (pawl, { id, ...cause }) => pawl.callbacks.acceptLate(id, cause),
  }),
];
