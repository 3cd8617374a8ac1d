import {
  about,
  anyOf,
  anything,
  flag,
  id,
  listOf,
  moment,
  named,
  number,
  oneOf,
  orNull,
  record,
  type Schema,
  shape,
  text,
  whole,
  withMore,
} from "../../api/schema.ts";
import type {
  AllowedEventResponse,
  AttemptResponse,
  ChildrenResponse,
  InstanceResponse,
  MoveResponse,
} from "../../contract.ts";

export const outcome = orNull(oneOf("success", "failure", "discarded"));

/** One piece of work. */
export const instance = named(
  "Instance",
  shape<InstanceResponse>(
    {
      id,
      key: orNull(text),
      lifecycle: text,
      parent: about(
        orNull(shape<NonNullable<InstanceResponse["parent"]>>({ lifecycle: text, id })),
        "The instance whose step started it.",
      ),
      definition: about(whole, "The version of the definition that moved it last."),
      state: text,
      version: about(whole, "The number of its moves."),
      data: record,
      outcome: about(outcome, "How it ended; null while it is open."),
      createdAt: moment,
      movedAt: moment,
      closedAt: orNull(moment),
      deadlineAt: orNull(moment),
      timedOutAt: about(orNull(moment), "When its deadline passed, while it is failed because of it."),
      failure: about(
        orNull(
          shape<NonNullable<InstanceResponse["failure"]>>({
            reason: text,
            error: orNull(shape<{ name: string; message: string }>({ name: text, message: text })),
            at: moment,
            state: about(text, "The state in which it failed."),
          }),
        ),
        "Its last failure, while it is failed or after it ended in failure.",
      ),
      progress: shape<NonNullable<InstanceResponse["progress"]>>({ fraction: number, note: orNull(text), at: moment }),
    },
    ["progress"],
  ),
);

export const started = named(
  "Started",
  withMore(instance, { created: about(flag, "False if the key already existed.") }),
);

const move = named(
  "Move",
  shape<MoveResponse>({
    kind: oneOf("move"),
    version: whole,
    event: text,
    from: about(orNull(text), "Null for the start."),
    to: text,
    at: moment,
    source: oneOf("call", "worker", "timer", "callback", "pawl"),
    actor: orNull(text),
    reason: orNull(text),
    payload: anything,
    patch: about(orNull(record), "Changed keys of the data."),
    cleared: about(orNull(listOf(text)), "Removed keys of the data."),
    definition: whole,
  }),
);

const attempt = named(
  "Attempt",
  shape<AttemptResponse>({
    kind: oneOf("attempt"),
    what: oneOf("claimed", "failed", "lapsed", "released", "deferred", "refused", "asked"),
    at: moment,
    lane: orNull(text),
    attempt: orNull(whole),
    worker: orNull(text),
    detail: anything,
    endedAt: about(orNull(moment), "When a claimed attempt ended; null while it runs."),
    outcome: about(orNull(text), "The event that the attempt caused, or failed, lapsed, released or deferred."),
  }),
);

export const journal = listOf(move);
export const history = listOf(anyOf(move, attempt));

type Refused = Extract<AllowedEventResponse, { permitted: "no" }>;

export const blockers = listOf(
  shape<Refused["blockers"][number]>(
    {
      kind: oneOf("closed", "no_edge", "guard", "payload", "unknown_event", "no_target", "no_way"),
      event: text,
      from: text,
      to: text,
      reason: text,
    },
    ["to"],
  ),
);

export const permitted = named(
  "Permitted",
  shape<Omit<Refused, "permitted" | "blockers"> & { permitted: string; blockers?: unknown }>(
    { event: text, permitted: oneOf("yes", "no", "depends"), blockers: about(blockers, "Why not.") },
    ["blockers"],
  ) as Schema<AllowedEventResponse>,
);

type Child = ChildrenResponse["first"][number];

export const children = shape<ChildrenResponse>({
  total: whole,
  open: whole,
  succeeded: whole,
  failed: whole,
  discarded: whole,
  first: listOf(shape<Child>({ id, lifecycle: text, key: orNull(text), state: text, outcome, data: record })),
});
