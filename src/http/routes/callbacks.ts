import { routesOf } from "../api/route.ts";
import { about, anything, flag, id, listOf, moment, named, oneOf, orNull, shape, text, whole } from "../api/schema.ts";
import { lifecycleIfNamed, unknown } from "../api/targets.ts";
import { after, cause, page } from "../api/usual-arguments.ts";
import type { CallbackResponse, ReceivedResponse } from "../contract.ts";
import { instance } from "./responses/instance-response.ts";

export const callbackStatus = oneOf("waiting", "applied", "kept", "rejected", "refused", "accepted");

export const callback = named(
  "Callback",
  shape<CallbackResponse>({
    id,
    lifecycle: text,
    instance: id,
    key: orNull(text),
    event: text,
    dedupeKey: about(text, "The sender's id for it."),
    source: oneOf("call", "token", "step"),
    actor: orNull(text),
    payload: anything,
    error: orNull(shape<NonNullable<CallbackResponse["error"]>>({ name: text, message: text, code: text }, ["code"])),
    receivedAt: moment,
    late: flag,
    status: callbackStatus,
    reason: orNull(text),
    version: about(orNull(whole), "The move that it caused."),
    settledAt: orNull(moment),
  }),
);

export const received = shape<ReceivedResponse>({
  id,
  accepted: about(flag, "Stored: it was applied, waits for its instance, or was kept as late."),
  late: flag,
  duplicate: about(flag, "A duplicate: the first response again."),
  status: callbackStatus,
  reason: orNull(text),
  receivedAt: moment,
});

const { get, post } = routesOf("Callbacks");

export const callbackRoutes = [
  get("callbacks", "/callbacks", "read", {
    summary: "List callbacks, newest first, by page.",
    takes: { lifecycle: text, status: callbackStatus, late: flag, ...page },
    answer: listOf(callback),
    call: (pawl, { lifecycle, after: last, ...filter }) =>
      pawl.callbacks.list({ ...filter, lifecycle: lifecycleIfNamed(pawl, lifecycle), after: after(last) }),
  }),
  get("callback", "/callbacks/{id}", "read", {
    summary: "Get a callback.",
    answer: callback,
    call: async (pawl, { id }) =>
      (await pawl.callbacks.get(id)) ?? unknown("callback_unknown", `Callback ${id} does not exist.`, { callback: id }),
  }),
  post("acceptLate", "/callbacks/{id}/accept", "operate", {
    summary: "Accept a late callback.",
    takes: cause,
    answer: instance,
    call: (pawl, { id, ...cause }) => pawl.callbacks.acceptLate(id, cause),
  }),
];
