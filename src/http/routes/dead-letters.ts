import type { Pawl } from "../../api/pawl.ts";
import { routesOf } from "../api/route.ts";
import {
  about,
  anything,
  duration,
  flag,
  id,
  listOf,
  mapOf,
  moment,
  named,
  number,
  oneOf,
  orNull,
  record,
  shape,
  text,
  whole,
} from "../api/schema.ts";
import { lifecycleIfNamed, unknown } from "../api/targets.ts";
import { after, cause, page } from "../api/usual-arguments.ts";
import type {
  ArchivedResponse,
  ArchiveResponse,
  DeadLetterGroupResponse,
  DeadLetterResponse,
  PreviewResponse,
  RestoredResponse,
} from "../contract.ts";
import { operation } from "./operations.ts";

const kind = oneOf("instance", "effect", "message", "broker");
const letterStatus = oneOf("open", "requeued", "discarded", "archived");

/** Selects open letters. */
const filter = {
  id: listOf(id),
  lifecycle: text,
  kind,
  origin: about(text, "The state, event, type of message or broker's queue where it failed."),
  because: about(text, "The reason of the failure."),
  fingerprint: text,
  from: moment,
  to: moment,
  all: flag,
};
const rate = about(number, "The maximum number per second.");

const letter = named(
  "DeadLetter",
  shape<DeadLetterResponse>({
    id,
    instance: orNull(id),
    key: orNull(text),
    lifecycle: about(text, "The lifecycle, or the aggregate type of a message."),
    kind,
    origin: about(text, "The state, the event of an `after` function, the type of a message, or a broker's queue."),
    reason: text,
    error: orNull(
      shape<NonNullable<DeadLetterResponse["error"]>>({ name: text, message: text, stack: text }, ["stack"]),
    ),
    attempts: whole,
    payload: anything,
    details: anything,
    fingerprint: text,
    status: letterStatus,
    createdAt: moment,
    decidedAt: orNull(moment),
    decidedBy: orNull(text),
    decision: orNull(text),
  }),
);

const group = named(
  "DeadLetterGroup",
  shape<DeadLetterGroupResponse>({
    fingerprint: text,
    lifecycle: text,
    kind,
    origin: text,
    pattern: about(text, "Their common error, without ids and values."),
    reasons: listOf(text),
    letters: whole,
    firstAt: moment,
    lastAt: moment,
    newest: about(id, "The newest dead letter of the group."),
  }),
);

const preview = shape<PreviewResponse>({
  letters: whole,
  outcomes: mapOf(whole),
  sample: listOf(
    shape<PreviewResponse["sample"][number]>({
      letter: id,
      lifecycle: text,
      key: orNull(text),
      origin: text,
      outcome: text,
      note: orNull(text),
    }),
  ),
});

const archive = shape<ArchiveResponse>({
  name: text,
  archive: about(text, "The archive that it was written to."),
  letters: whole,
  bytes: whole,
  sha256: text,
  createdAt: moment,
});

const { get, post } = routesOf("Dead letters");

export const deadRoutes = [
  get("deadLetters", "/dead-letters", "read", {
    summary: "List dead letters, newest first, by page. Defaults to open ones.",
    takes: {
      lifecycle: text,
      status: letterStatus,
      fingerprint: about(text, "Only the open dead letters of this group."),
      ...page,
    },
    answer: listOf(letter),
    call: (pawl, { lifecycle, after: last, ...filter }) =>
      pawl.deadLetters.list({ lifecycle: lifecycleIfNamed(pawl, lifecycle), ...filter, after: after(last) }),
  }),
  get("deadLetter", "/dead-letters/{id}", "read", {
    summary: "Get a dead letter.",
    answer: letter,
    call: async (pawl, { id }) =>
      (await pawl.deadLetters.get(id)) ??
      unknown("dead_letter_unknown", `Dead letter ${id} does not exist.`, { deadLetter: id }),
  }),
  post("requeue", "/dead-letters/{id}/requeue", "operate", {
    summary: "Retry a dead letter, optionally with changed data.",
    takes: { data: record, restart: about(flag, "Start over instead of resuming where it failed."), ...cause },
    answer: letter,
    call: (pawl, { id, ...options }) => pawl.deadLetters.requeue(id, options),
  }),
  post("discardDeadLetter", "/dead-letters/{id}/discard", "operate", {
    summary: "Discard a dead letter without retrying it.",
    takes: cause,
    answer: letter,
    call: (pawl, { id, ...cause }) => pawl.deadLetters.discard(id, cause),
  }),
  get("deadLetterGroups", "/dead-letter-groups", "read", {
    summary: "Group open dead letters by cause, largest group first.",
    takes: { ...filter, limit: whole },
    answer: listOf(group),
    call: (pawl, { limit, ...filter }) =>
      pawl.deadLetters.groups(
        Object.keys(filter).length === 0 ? { all: true } : filterOf(filter),
        limit === undefined ? {} : { limit },
      ),
  }),
  post("previewDeadLetters", "/dead-letters/preview", "read", {
    summary: "Preview a bulk operation. Nothing is changed.",
    takes: { decision: oneOf("requeue", "discard"), restart: flag, ...filter },
    needs: ["decision"],
    answer: preview,
    call: (pawl, { decision, restart, ...filter }) => pawl.deadLetters.preview(decision, filterOf(filter), { restart }),
  }),
  post("requeueDeadLetters", "/dead-letters/requeue", "operate", {
    summary: "Requeue many dead letters: starts a bulk operation, which the workers carry out.",
    takes: { ...filter, restart: flag, rate, ...cause },
    answer: operation,
    call: (pawl, { rate, restart, reason, actor, ...filter }) =>
      pawl.deadLetters.requeueMany(filterOf(filter), { rate, restart, reason, actor }),
  }),
  post("discardDeadLetters", "/dead-letters/discard", "operate", {
    summary: "Discard many dead letters: starts a bulk operation, which the workers carry out.",
    takes: { ...filter, rate, ...cause },
    answer: operation,
    call: (pawl, { rate, reason, actor, ...filter }) =>
      pawl.deadLetters.discardMany(filterOf(filter), { rate, reason, actor }),
  }),
  post("archiveDeadLetters", "/dead-letters/archive", "operate", {
    summary: "Archive old dead letters now.",
    takes: { olderThan: duration },
    answer: shape<ArchivedResponse>({ letters: whole, files: whole }),
    call: (pawl, options) => pawl.deadLetters.archive(options),
  }),
  get("archives", "/archives", "read", {
    summary: "List the files of archived dead letters, newest first.",
    takes: { limit: whole },
    answer: listOf(archive),
    call: (pawl, options) => pawl.deadLetters.archives(options),
  }),
  post("restoreDeadLetters", "/archives/restore", "operate", {
    summary: "Restore archived dead letters: by id, by file, or all.",
    takes: { file: listOf(text), id: listOf(id), all: flag },
    answer: shape<RestoredResponse>({ files: whole, restored: whole, there: whole, gone: whole }),
    call: (pawl, which) => pawl.deadLetters.restore(which as Parameters<Pawl["deadLetters"]["restore"]>[0]),
  }),
];

type Filter = Parameters<Pawl["deadLetters"]["requeueMany"]>[0];

/** The reason of a letter is called `because` here: `reason` is why one decides. */
function filterOf({ because, all, ...filter }: { readonly because?: string; readonly all?: boolean }): Filter {
  return { ...filter, ...(because !== undefined && { reason: because }), ...(all === true && { all }) } as Filter;
}
