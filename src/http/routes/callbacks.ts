import type { Route } from "../api/route.ts";
import {
  about,
  anything,
  flag,
  id,
  listOf,
  moment,
  named,
  oneOf,
  orNull,
  type Schema,
  shape,
  text,
  whole,
} from "../api/schema.ts";
import type { CallbackAnswer, ReceivedAnswer } from "../contract.ts";
import { cause, page } from "./arguments.ts";
import { instance } from "./instance-answer.ts";

const tag = "Callbacks";
export const callbackStatus = oneOf("waiting", "applied", "kept", "rejected", "refused", "accepted");

export const callback: Schema = named(
  "Callback",
  shape<CallbackAnswer>({
    id,
    lifecycle: text,
    instance: id,
    key: orNull(text),
    event: text,
    dedupe: about(text, "What its sender calls it."),
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

export const received: Schema = shape<ReceivedAnswer>({
  id,
  accepted: about(flag, "It counts, or may: it was applied, waits for its instance, or was kept as late."),
  late: flag,
  duplicate: about(flag, "It was there already: this is the answer that it got at first."),
  status: callbackStatus,
  reason: orNull(text),
  receivedAt: moment,
});

export const callbackRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/callbacks",
    verb: "callbacks",
    may: "look",
    tag,
    summary: "What came in from outside, newest first, by pages.",
    takes: { lifecycle: text, status: callbackStatus, late: flag, ...page },
    answers: listOf(callback),
  },
  {
    method: "get",
    path: "/callbacks/{id}",
    verb: "callback",
    may: "look",
    tag,
    summary: "One callback.",
    answers: callback,
  },
  {
    method: "post",
    path: "/callbacks/{id}/accept",
    verb: "acceptLate",
    may: "operate",
    tag,
    summary: "Accept a result that came after the deadline and was kept.",
    takes: cause,
    answers: instance,
  },
];
