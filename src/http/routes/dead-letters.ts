import type { Route } from "../api/route.ts";
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
import type {
  ArchiveAnswer,
  ArchivedAnswer,
  DeadGroupAnswer,
  DeadLetterAnswer,
  PreviewAnswer,
  RestoredAnswer,
} from "../contract.ts";
import { cause, page } from "./arguments.ts";
import { operation } from "./operations.ts";

const tag = "Dead letters";

const kind = oneOf("instance", "effect", "message", "broker");
const letterStatus = oneOf("open", "requeued", "discarded", "archived");

/** Which open letters are meant. */
const filter = {
  id: listOf(id),
  lifecycle: text,
  kind,
  origin: about(text, "The state, event, type of message or broker's queue where it was given up."),
  because: about(text, "The reason for which it was given up."),
  fingerprint: text,
  from: moment,
  to: moment,
  all: flag,
};
const rate = about(number, "So many a second at the most.");

const letter = named(
  "DeadLetter",
  shape<DeadLetterAnswer>({
    id,
    instance: orNull(id),
    key: orNull(text),
    lifecycle: about(text, "The lifecycle, or what a message is about."),
    kind,
    origin: about(text, "The state, the event of an after-effect, the type of a message, or a broker's queue."),
    reason: text,
    error: orNull(shape<NonNullable<DeadLetterAnswer["error"]>>({ name: text, message: text, stack: text }, ["stack"])),
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
  "DeadGroup",
  shape<DeadGroupAnswer>({
    fingerprint: text,
    lifecycle: text,
    kind,
    origin: text,
    pattern: about(text, "Their error without what differs from case to case."),
    reasons: listOf(text),
    letters: whole,
    firstAt: moment,
    lastAt: moment,
    newest: about(id, "The newest, as an example."),
  }),
);

const preview = shape<PreviewAnswer>({
  letters: whole,
  outcomes: mapOf(whole),
  sample: listOf(
    shape<PreviewAnswer["sample"][number]>({
      letter: id,
      lifecycle: text,
      key: orNull(text),
      origin: text,
      outcome: text,
      note: orNull(text),
    }),
  ),
});

const archive = shape<ArchiveAnswer>({
  name: text,
  archive: about(text, "The archive that it was written to."),
  letters: whole,
  bytes: whole,
  sha256: text,
  createdAt: moment,
});

export const deadRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/dead-letters",
    verb: "deadLetters",
    may: "look",
    tag,
    summary: "What was given up, newest first, by pages; what waits for a decision unless told otherwise.",
    takes: {
      lifecycle: text,
      status: letterStatus,
      fingerprint: about(text, "Of those that are open, those of one group."),
      ...page,
    },
    answers: listOf(letter),
  },
  {
    method: "get",
    path: "/dead-letters/{id}",
    verb: "deadLetter",
    may: "look",
    tag,
    summary: "One dead letter.",
    answers: letter,
  },
  {
    method: "post",
    path: "/dead-letters/{id}/requeue",
    verb: "requeue",
    may: "operate",
    tag,
    summary: "Take up again what a dead letter is about, if wanted with other data.",
    takes: { data: record, restart: about(flag, "Begin anew, instead of where it failed."), ...cause },
    answers: letter,
  },
  {
    method: "post",
    path: "/dead-letters/{id}/discard",
    verb: "discardDeadLetter",
    may: "operate",
    tag,
    summary: "Decide that nothing more is to be done about a dead letter.",
    takes: cause,
    answers: letter,
  },
  {
    method: "get",
    path: "/dead-groups",
    verb: "deadGroups",
    may: "look",
    tag,
    summary: "Open dead letters by what they have in common, the largest group first.",
    takes: { ...filter, limit: whole },
    answers: listOf(group),
  },
  {
    method: "post",
    path: "/dead-letters/preview",
    verb: "previewDeadLetters",
    may: "look",
    tag,
    summary: "What a decision about many would come to, as things are. Nothing is changed.",
    takes: { decision: oneOf("requeue", "discard"), restart: flag, ...filter },
    needs: ["decision"],
    answers: preview,
  },
  {
    method: "post",
    path: "/dead-letters/requeue",
    verb: "requeueDeadLetters",
    may: "operate",
    tag,
    summary: "Take up many again; it becomes an operation, which the workers carry out.",
    takes: { ...filter, restart: flag, rate, ...cause },
    answers: operation,
  },
  {
    method: "post",
    path: "/dead-letters/discard",
    verb: "discardDeadLetters",
    may: "operate",
    tag,
    summary: "Discard many; it becomes an operation, which the workers carry out.",
    takes: { ...filter, rate, ...cause },
    answers: operation,
  },
  {
    method: "post",
    path: "/dead-letters/archive",
    verb: "archiveDeadLetters",
    may: "operate",
    tag,
    summary: "Archive what is old.",
    takes: { olderThan: duration },
    answers: shape<ArchivedAnswer>({ letters: whole, files: whole }),
  },
  {
    method: "get",
    path: "/archives",
    verb: "archives",
    may: "look",
    tag,
    summary: "The files of archived dead letters, newest first.",
    takes: { limit: whole },
    answers: listOf(archive),
  },
  {
    method: "post",
    path: "/archives/restore",
    verb: "restoreDeadLetters",
    may: "operate",
    tag,
    summary: "Bring archived dead letters back: some, those of files, or all.",
    takes: { file: listOf(text), id: listOf(id), all: flag },
    answers: shape<RestoredAnswer>({ files: whole, restored: whole, there: whole, gone: whole }),
  },
];
