import { type SettledCallback, settleCallbacks } from "../callbacks/callbacks.ts";
import { type CheckRow, insertChecks } from "../family/checks.ts";
import { noPart, type Part, part, partsInARow } from "../port/db.ts";
import { type AlertRow, insertAlerts } from "../recovery/alerts.ts";
import { type DeadLetterRow, decideLetters, insertDeadLetters, type LetterDecision } from "../recovery/dead-letters.ts";
import { insertNotes, type NoteRow } from "../tasks/attempts.ts";
import { type EffectRow, insertEffects } from "../tasks/tasks.ts";
import { insertMessages, type MessageRow } from "./messages.ts";
import { insertRequests, type RequestRow } from "./requests.ts";
import { insertTimers, type TimerRow } from "./timers.ts";

/** The rows of other tables that come with instances which start or move. */
export interface RelatedRows {
  readonly effects: readonly EffectRow[];
  readonly timers: readonly TimerRow[];
  readonly messages: readonly MessageRow[];
  readonly requests: readonly RequestRow[];
  readonly notes: readonly NoteRow[];
  readonly deadLetters: readonly DeadLetterRow[];
  readonly checks: readonly CheckRow[];
  readonly letterDecisions: readonly LetterDecision[];
  readonly alerts: readonly AlertRow[];
  readonly callbacks: readonly SettledCallback[];
}

/** Their parts of the statement that commits, for as many tables as there are rows of: each looks at `written` and `clock`. */
export function insertRelatedRows(rows: RelatedRows): Part {
  const of = (list: readonly unknown[], make: () => Part): Part => (list.length > 0 ? make() : noPart);
  return partsInARow([
    of(rows.effects, () => part`followed as (${insertEffects(rows.effects)}),`),
    of(rows.timers, () => part`timed as (${insertTimers(rows.timers)}),`),
    of(rows.messages, () => part`posted as (${insertMessages(rows.messages)}),`),
    of(rows.requests, () => part`answered as (${insertRequests(rows.requests)}),`),
    of(rows.notes, () => part`noted as (${insertNotes(rows.notes)}),`),
    of(rows.deadLetters, () => part`buried as (${insertDeadLetters(rows.deadLetters)}),`),
    of(rows.checks, () => part`checked as (${insertChecks(rows.checks)}),`),
    of(rows.letterDecisions, () => part`settled as (${decideLetters(rows.letterDecisions)}),`),
    of(rows.alerts, () => part`alerted as (${insertAlerts(rows.alerts)}),`),
    of(rows.callbacks, () => part`received as (${settleCallbacks(rows.callbacks)}),`),
  ]);
}
