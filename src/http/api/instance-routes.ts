import type { Instance } from "../../shown.ts";
import type { Route } from "./route.ts";
import {
  about,
  anything,
  duration,
  flag,
  id,
  listOf,
  moment,
  oneOf,
  orNull,
  record,
  type Schema,
  shape,
  text,
  type Wire,
  whole,
} from "./schema.ts";

const parent = shape<{ lifecycle: string; id: string }>({ lifecycle: text, id });

/** One piece of work. */
export const instance: Schema = shape<Wire<Instance>>(
  {
    id,
    key: orNull(text),
    lifecycle: text,
    parent: orNull(parent),
    definition: whole,
    state: text,
    version: about(whole, "How many moves it has made."),
    data: record,
    outcome: orNull(oneOf("success", "failure", "discarded")),
    createdAt: moment,
    movedAt: moment,
    closedAt: orNull(moment),
    deadlineAt: orNull(moment),
    timedOutAt: orNull(moment),
    progress: shape<Wire<NonNullable<Instance["progress"]>>>({
      fraction: { type: "number" },
      note: orNull(text),
      at: moment,
    }),
  },
  ["progress"],
);

const cause = { reason: about(text, "Why; it stands in the journal.") };
const _sending = {
  payload: anything,
  expectedVersion: about(whole, "Refuse it unless the instance is at this version."),
  idempotencyKey: about(text, "The same key again gets the first answer. Also as the header `Idempotency-Key`."),
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
    answers: { ...instance, properties: { ...instance.properties, created: flag } },
  },
  {
    method: "get",
    path: "/lifecycles/{lifecycle}/instances",
    verb: "find",
    may: "look",
    tag: "Instances",
    summary: "The instances of a lifecycle, newest first, by pages.",
    takes: { state: listOf(text), parent: id, limit: whole, after: id },
    answers: listOf(instance),
  },
  ...ofInstance({ method: "get", path: "", verb: "get", may: "look", summary: "One instance.", answers: instance }),
];
