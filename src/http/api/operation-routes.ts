import type { Route } from "./route.ts";
import { anything, listOf, oneOf, text, whole } from "./schema.ts";
import { cause, page } from "./taken.ts";

const tag = "Operations";

export const operationRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/operations",
    verb: "operations",
    may: "look",
    tag,
    summary: "Decisions about many dead letters, newest first, and how far they are.",
    takes: { limit: whole },
    answers: listOf(anything),
  },
  {
    method: "get",
    path: "/operations/{id}",
    verb: "operation",
    may: "look",
    tag,
    summary: "One operation.",
    answers: anything,
  },
  {
    method: "post",
    path: "/operations/{id}/abort",
    verb: "abortOperation",
    may: "operate",
    tag,
    summary: "Begin nothing more of an operation. What it has done stays done.",
    takes: cause,
    answers: anything,
  },
  {
    method: "post",
    path: "/operations/{id}/carry-on",
    verb: "operation",
    operation: "carryOnOperation",
    may: "operate",
    tag,
    summary: "Do the next batch of an operation now, if its pace allows.",
    says: { carryOn: true },
    answers: anything,
  },
  {
    method: "get",
    path: "/tickets",
    verb: "tickets",
    may: "look",
    tag,
    summary: "Dead letters that want somebody, the oldest first.",
    takes: { status: oneOf("open", "taken", "resolved"), takenBy: text, ...page },
    answers: listOf(anything),
  },
  {
    method: "post",
    path: "/tickets/{id}/take",
    verb: "takeTicket",
    may: "operate",
    tag,
    summary: "Look after a ticket. One that another has taken is refused.",
    answers: anything,
  },
  {
    method: "post",
    path: "/tickets/{id}/resolve",
    verb: "resolveTicket",
    may: "operate",
    tag,
    summary: "Nothing is left to be looked at; the dead letter itself stays as it is.",
    takes: cause,
    needs: ["reason"],
    answers: anything,
  },
];
