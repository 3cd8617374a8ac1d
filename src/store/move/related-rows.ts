import { type SettledCallback, settleCallbacks } from "../callbacks/callbacks.ts";
import { type CheckRow, insertChecks } from "../family/checks.ts";
import { type Part, part } from "../port/db.ts";
import { type AlertRow, insertAlerts } from "../recovery/alerts.ts";
import { type DeadLetterRow, decideLetters, insertDeadLetters, type LetterDecision } from "../recovery/dead-letters.ts";
import { insertNotes, type NoteRow } from "../tasks/attempts.ts";
import { type EffectRow, insertEffects } from "../tasks/tasks.ts";
import { insertMessages, type MessageRow } from "./messages.ts";
import { insertRequests, type RequestRow } from "./requests.ts";
import { insertTimers, type TimerRow } from "./timers.ts";

/** The rows of other tables for instances that start or move. */
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

/** The frequent rows of a move or a start: a part of the statements that commit, which reads `written` and `clock`. */
export function usualRows(rows: RelatedRows): Part {
  return part`
    followed as (${insertEffects(rows.effects)}),
    timed as (${insertTimers(rows.timers)}),
    posted as (${insertMessages(rows.messages)}),`;
}

export function hasUsualRows({ effects, timers, messages }: RelatedRows): boolean {
  return effects.length + timers.length + messages.length > 0;
}

/** The rare rows. */
export function rareRows(rows: RelatedRows): Part {
  return part`
    answered as (${insertRequests(rows.requests)}),
    noted as (${insertNotes(rows.notes)}),
    buried as (${insertDeadLetters(rows.deadLetters)}),
    checked as (${insertChecks(rows.checks)}),
    settled as (${decideLetters(rows.letterDecisions)}),
    alerted as (${insertAlerts(rows.alerts)}),
    received as (${settleCallbacks(rows.callbacks)}),`;
}

export function hasRareRows(rows: RelatedRows): boolean {
  const { requests, notes, deadLetters, checks, letterDecisions, alerts, callbacks } = rows;
  return [requests, notes, deadLetters, checks, letterDecisions, alerts, callbacks].some((some) => some.length > 0);
}
