import type { Route } from "./route.ts";
import { anything, flag, listOf, oneOf, text } from "./schema.ts";
import { cause, page } from "./taken.ts";

const tag = "Callbacks";
export const callbackStatus = oneOf("waiting", "applied", "kept", "rejected", "refused", "accepted");

export const callbackRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/callbacks",
    verb: "callbacks",
    may: "look",
    tag,
    summary: "What came in from outside, newest first, by pages.",
    takes: { lifecycle: text, status: callbackStatus, late: flag, ...page },
    answers: listOf(anything),
  },
  {
    method: "get",
    path: "/callbacks/{id}",
    verb: "callback",
    may: "look",
    tag,
    summary: "One callback.",
    answers: anything,
  },
  {
    method: "post",
    path: "/callbacks/{id}/accept",
    verb: "acceptLate",
    may: "operate",
    tag,
    summary: "Accept a result that came after the deadline and was kept.",
    takes: cause,
    answers: anything,
  },
];
