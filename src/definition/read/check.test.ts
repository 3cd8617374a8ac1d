import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { isPawlError, PawlError } from "../../base/errors.ts";
import { crowd } from "../crowd.ts";
import { queue } from "../queue.ts";
import { buildLifecycle } from "./build.ts";
import type { Fault, FaultCode } from "./fault.ts";

const run = async () => {};
const end = { final: "success" };
const wait = { forever: true, on: { x: "b" } };
const sample = () => ({});
const answers = queue("answers", { label: z.object({ ok: z.boolean() }) });
const many = crowd("many", { label: z.object({ ok: z.boolean() }), marketplace: "local" });
const paid = z.object({ amount: z.number() });

/** The faults of a definition written by someone without a compiler; none when it is good. */
function faultsOf(definition: unknown, name: unknown = "n"): readonly Fault[] {
  try {
    buildLifecycle(name, definition);
    return [];
  } catch (error) {
    if (!isPawlError(error, "definition_invalid")) throw error;
    return error.details.faults as readonly Fault[];
  }
}

/** A valid lifecycle of two states, with overrides. */
const withA = (a: unknown, rest: object = {}) => ({ initial: "a", states: { a, b: end }, ...rest });
const withRest = (rest: object) => withA(wait, rest);

type Case = readonly [code: FaultCode, place: string, definition: unknown];

const cases: Record<string, Case> = {
  // Shapes, as someone without a compiler may write them.
  "a definition that is none": ["shape_invalid", "definition", 5],
  "a definition that is null": ["shape_invalid", "definition", null],
  "states that are no object": ["shape_invalid", "states", { initial: "a", states: [] }],
  "no states": ["shape_invalid", "states", { initial: "a" }],
  "not one state": ["shape_invalid", "states", { initial: "a", states: {} }],
  "a state that is no object": ["shape_invalid", "states.a", withA("b")],
  "an `on` that is no object": ["shape_invalid", "states.a.on", withA({ forever: true, on: 5 })],
  "an edge that is no edge": ["shape_invalid", "states.a.on.y", withA({ ...wait, on: { x: "b", y: 5 } })],
  "an edge that is null": ["shape_invalid", "states.a.on.y", withA({ ...wait, on: { x: "b", y: null } })],
  "an empty list of edges": ["shape_invalid", "states.a.on.y", withA({ ...wait, on: { x: "b", y: [] } })],
  "a list in a list of edges": ["shape_invalid", "states.a.on.y[0]", withA({ ...wait, on: { x: "b", y: [["b"]] } })],
  "a target that is no text": ["shape_invalid", "states.a.on.y.to", withA({ ...wait, on: { x: "b", y: { to: 1 } } })],
  "a guard that is no function": [
    "shape_invalid",
    "states.a.on.x.guard",
    withA({ ...wait, on: { x: { to: "b", guard: true } } }),
  ],
  "a hook that is no function": [
    "shape_invalid",
    "states.a.on.x.after",
    withA({ ...wait, on: { x: { to: "b", after: "mail" } } }),
  ],
  "a run that is no function": ["shape_invalid", "states.a.run", withA({ run: "grade", on: { x: "b" } })],
  "a common `on` that is no object": ["shape_invalid", "on", withRest({ on: [] })],
  "events that are no object": ["shape_invalid", "events", withRest({ events: [] })],
  "built-ins that are neither on nor off": ["shape_invalid", "builtIns", withRest({ builtIns: "no" })],
  "a recovery that is no object": ["shape_invalid", "recovery", withRest({ recovery: true })],
  "a reset without a function": [
    "shape_invalid",
    "recovery.reset.run",
    withA({ run, on: { x: "b" } }, { recovery: { reset: { before: "b" } } }),
  ],
  "a scope that is none": [
    "shape_invalid",
    "recovery.scope",
    withA({ run, on: { x: "b" } }, { recovery: { scope: "day" } }),
  ],
  "a deadline without a time": ["shape_invalid", "deadline.within", withRest({ deadline: {} })],
  "a timeout without an event": [
    "shape_invalid",
    "states.a.timeout.send",
    withA({ ...wait, timeout: { after: "1m" } }),
  ],
  "a timeout without a time": ["shape_invalid", "states.a.timeout.after", withA({ ...wait, timeout: { send: "x" } })],
  "a timeout that is no object": ["shape_invalid", "states.a.timeout[0]", withA({ ...wait, timeout: ["1m"] })],
  "a release without a number": [
    "shape_invalid",
    "states.a.release.limit",
    withA({ release: { interval: "1m", send: "x" }, on: { x: "b" } }),
  ],
  "an unknown end": ["shape_invalid", "states.b.final", { initial: "a", states: { a: wait, b: { final: "done" } } }],
  "an ask of nobody": ["shape_invalid", "states.a.ask", withA({ ask: { sample }, on: { answered: "b" } })],
  "an ask of two": [
    "shape_invalid",
    "states.a.ask",
    withA({ ask: { queue: answers, crowd: many, sample }, on: { answered: "b" } }),
  ],
  "an ask of a queue that is none": [
    "shape_invalid",
    "states.a.ask.queue",
    withA({ ask: { queue: many, sample }, on: { answered: "b" } }),
  ],
  "an ask without a sample": [
    "shape_invalid",
    "states.a.ask.sample",
    withA({ ask: { queue: answers }, on: { answered: "b" } }),
  ],
  "a policy of retries without a number of attempts": [
    "shape_invalid",
    "states.a.retry.maxAttempts",
    withA({ run, retry: {}, on: { x: "b" } }),
  ],
  "an unknown key": ["key_unknown", "state", withRest({ state: {} })],
  "an unknown key of a state": ["key_unknown", "states.a.forevr", withA({ ...wait, forevr: true })],
  "an unknown key of an edge": [
    "key_unknown",
    "states.a.on.x.gaurd",
    withA({ ...wait, on: { x: { to: "b", gaurd: run } } }),
  ],
  "a setting that only a working state has": ["key_idle", "states.a.uses", withA({ ...wait, uses: "llm" })],
  "data that is no schema": ["schema_invalid", "data", withRest({ data: { text: "string" } })],
  "a payload that is no schema": ["schema_invalid", "events.x", withRest({ events: { x: Number } })],
  "a payload that is not there": ["schema_invalid", "events.x", withRest({ events: { x: undefined } })],
  // Names and numbers.
  "a state with a capital letter": [
    "name_invalid",
    "states.Open",
    { initial: "a", states: { a: { forever: true, on: { x: "Open" } }, Open: end } },
  ],
  "an event with a hyphen": ["name_invalid", "states.a.on.x-y", withA({ forever: true, on: { "x-y": "b" } })],
  "an event that begins with a digit": [
    "name_invalid",
    "states.a.on.1st",
    withA({ forever: true, on: { "1st": "b" } }),
  ],
  "a state with a dangerous name": [
    "name_invalid",
    "states.__proto__",
    JSON.parse(
      '{"initial":"a","states":{"a":{"forever":true,"on":{"x":"b"}},"b":{"final":"success"},"__proto__":{"final":"success"}}}',
    ),
  ],
  "a common event with a dangerous name": [
    "name_invalid",
    "on.__proto__",
    withRest({ on: JSON.parse('{"__proto__":"b"}') }),
  ],
  "a version of 0": ["version_invalid", "version", withRest({ version: 0 })],
  "a version of 1.5": ["version_invalid", "version", withRest({ version: 1.5 })],
  "a limit of 0": ["number_invalid", "states.a.limit", withA({ run, limit: 0, on: { x: "b" } })],
  "a rate of 0": ["number_invalid", "states.a.rate", withA({ run, rate: "0/m", on: { x: "b" } })],
  "a rate by the week": ["number_invalid", "states.a.rate", withA({ run, rate: "100/w", on: { x: "b" } })],
  "a limit by key without its share": [
    "shape_invalid",
    "states.a.limit.each",
    withA({ run, limit: { total: 4, per: () => "k" }, on: { x: "b" } }),
  ],
  "a limit of each without keys": [
    "shape_invalid",
    "states.a.limit.per",
    withA({ run, limit: { each: 4 }, on: { x: "b" } }),
  ],
  "an empty limit": ["shape_invalid", "states.a.limit", withA({ run, limit: {}, on: { x: "b" } })],
  "a limit that is a text": ["number_invalid", "states.a.limit", withA({ run, limit: "4", on: { x: "b" } })],
  "a limit with an unknown key": [
    "key_unknown",
    "states.a.limit.eech",
    withA({ run, limit: { total: 4, eech: 1 }, on: { x: "b" } }),
  ],
  "a rate of each that is a number": [
    "number_invalid",
    "states.a.rate.each",
    withA({ run, rate: { per: () => "k", each: 5 }, on: { x: "b" } }),
  ],
  "a share that is no function": ["shape_invalid", "states.a.share", withA({ run, share: "school", on: { x: "b" } })],
  "a share of a state that waits": ["key_idle", "states.a.share", withA({ ...wait, share: () => "k" })],
  "a priority out of range": ["number_invalid", "states.a.priority", withA({ run, priority: 40_000, on: { x: "b" } })],
  "no attempts at all": [
    "number_invalid",
    "states.a.retry.maxAttempts",
    withA({ run, retry: { maxAttempts: 0, backoff: () => 1 }, on: { x: "b" } }),
  ],
  "no failures at all": [
    "number_invalid",
    "recovery.maxFailures",
    withA({ run, on: { x: "b" } }, { recovery: { maxFailures: 0 } }),
  ],
  "a release of none": [
    "number_invalid",
    "states.a.release.limit",
    withA({ release: { interval: "1m", limit: 0, send: "x" }, on: { x: "b" } }),
  ],
  "a timeout that does not parse": [
    "duration_invalid",
    "states.a.timeout.after",
    withA({ ...wait, timeout: { after: "soon", send: "x" } }),
  ],
  "a timeout at once": [
    "duration_invalid",
    "states.a.timeout.after",
    withA({ ...wait, timeout: { after: 0, send: "x" } }),
  ],
  "a deadline that does not parse": [
    "duration_invalid",
    "deadline.within",
    withRest({ deadline: { within: "1 day" } }),
  ],
  "a recovery after no time": [
    "duration_invalid",
    "recovery.after",
    withA({ run, on: { x: "b" } }, { recovery: { after: "later" } }),
  ],
  "a release at no time": [
    "duration_invalid",
    "states.a.release.interval",
    withA({ release: { interval: "", limit: 1, send: "x" }, on: { x: "b" } }),
  ],
  "a retention that does not parse": ["duration_invalid", "retention", withRest({ retention: "long" })],
  "too many states": ["states_too_many", "states", { initial: "s0", states: chain(201) }],
  // States.
  "no initial state": ["initial_invalid", "initial", { states: { a: wait, b: end } }],
  "an unknown initial state": ["initial_invalid", "initial", withRest({ initial: "c" })],
  "an initial state that is an end": ["initial_invalid", "initial", withRest({ initial: "b" })],
  "an initial state that is built in": ["initial_invalid", "initial", withRest({ initial: "failed" })],
  "a state that says nothing": [
    "kind_missing",
    "states.a",
    { initial: "a", on: { x: "b" }, states: { a: {}, b: end } },
  ],
  "a state that works and asks": [
    "kinds_mixed",
    "states.a",
    withA({ run, ask: { queue: answers, sample }, on: { x: "b", answered: "b" } }),
  ],
  "a state that joins and is parked": [
    "kinds_mixed",
    "states.a",
    withA({ join: {}, release: { interval: "1m", limit: 1, send: "x" }, on: { x: "b", joined: "b" } }),
  ],
  "an end with an exit": [
    "final_exit",
    "states.b.on",
    { initial: "a", states: { a: wait, b: { ...end, on: { y: "a" } } } },
  ],
  "an end with a timeout": [
    "final_exit",
    "states.b.timeout",
    { initial: "a", states: { a: wait, b: { ...end, timeout: { after: "1m", send: "fail" } } } },
  ],
  "a state that nothing leads to": [
    "state_unreachable",
    "states.c",
    { initial: "a", states: { a: wait, b: end, c: { forever: true, on: { y: "b" } } } },
  ],
  "two states that only lead to each other": [
    "state_unreachable",
    "states.d",
    {
      initial: "a",
      states: { a: wait, b: end, c: { forever: true, on: { y: "d" } }, d: { forever: true, on: { y: "c", z: "b" } } },
    },
  ],
  "a state without a way to an end": [
    "end_unreachable",
    "states.c",
    {
      initial: "a",
      states: { a: { forever: true, on: { x: "b", y: "c" } }, b: end, c: { forever: true, on: { y: "c" } } },
    },
  ],
  "a lifecycle without an end": [
    "end_unreachable",
    "states.a",
    { initial: "a", states: { a: { forever: true, on: { y: "a" } } } },
  ],
  "a wait without an end": ["wait_endless", "states.a", withA({ on: { x: "b" } })],
  // Edges and events.
  "an unknown target": ["state_unknown", "states.a.on.y", withA({ ...wait, on: { x: "b", y: "nowhere" } })],
  "an unknown target of an edge": [
    "state_unknown",
    "states.a.on.y.to",
    withA({ ...wait, on: { x: "b", y: { to: "nowhere" } } }),
  ],
  "an unknown target in a list": [
    "state_unknown",
    "states.a.on.y[1].to",
    withA({ ...wait, on: { x: "b", y: [{ to: "b", guard: run }, { to: "nowhere" }] } }),
  ],
  "an unknown target of a common edge": ["state_unknown", "on.y", withRest({ on: { y: "nowhere" } })],
  "a built-in target that is not built in": [
    "state_unknown",
    "states.a.on.y",
    withA({ ...wait, on: { x: "b", y: "failed" } }, { builtIns: false }),
  ],
  "an edge that can never be taken": [
    "edge_shadowed",
    "states.a.on.x[1]",
    withA({ forever: true, on: { x: [{ to: "b" }, { to: "a" }] } }),
  ],
  "a state that works and has no event": ["edge_missing", "states.a.on", withA({ run })],
  "a state that asks and hears nothing": [
    "edge_missing",
    "states.a.on.answered",
    withA({ ask: { queue: answers, sample }, on: { x: "b" } }),
  ],
  "a state that joins and hears nothing": ["edge_missing", "states.a.on.joined", withA({ join: {}, on: { x: "b" } })],
  "a timeout that sends what leads nowhere": [
    "event_unknown",
    "states.a.timeout.send",
    withA({ timeout: { after: "1m", send: "y" }, on: { x: "b" } }),
  ],
  "a second timeout that sends what leads nowhere": [
    "event_unknown",
    "states.a.timeout[1].send",
    withA({
      timeout: [
        { after: "1m", send: "x" },
        { after: "2m", send: "y" },
      ],
      on: { x: "b" },
    }),
  ],
  "a release that sends what leads nowhere": [
    "event_unknown",
    "states.a.release.send",
    withA({ release: { interval: "1m", limit: 1, send: "y" }, on: { x: "b" } }),
  ],
  "a timeout that sends restart": [
    "event_unknown",
    "states.a.timeout.send",
    withA({ timeout: { after: "1m", send: "restart" }, on: { x: "b" } }),
  ],
  "a timeout that sends what needs a payload": [
    "payload_needed",
    "states.a.timeout.send",
    withA({ timeout: { after: "1m", send: "paid" }, on: { paid: "b" } }, { events: { paid } }),
  ],
  "a release that sends what needs a payload": [
    "payload_needed",
    "states.a.release.send",
    withA({ release: { interval: "1m", limit: 1, send: "paid" }, on: { paid: "b" } }, { events: { paid } }),
  ],
  "a timeout that sends an answer": [
    "payload_needed",
    "states.a.timeout.send",
    withA({ ask: { queue: answers, sample }, timeout: { after: "1m", send: "answered" }, on: { answered: "b" } }),
  ],
  "a payload of no event": ["payload_unused", "events.paid", withRest({ events: { paid } })],
  "a message to children that they do not know": ["event_unknown", "onParentEnd", withRest({ onParentEnd: "y" })],
  "a message to children that needs a payload": [
    "payload_needed",
    "onParentEnd",
    withA({ forever: true, on: { paid: "b" } }, { events: { paid }, onParentEnd: "paid" }),
  ],
  // Recovery.
  "a checkpoint that does not exist": [
    "checkpoint_invalid",
    "states.a.checkpoint",
    withA({ ...wait, checkpoint: "c" }),
  ],
  "a checkpoint that is itself": ["checkpoint_invalid", "states.a.checkpoint", withA({ ...wait, checkpoint: "a" })],
  "a checkpoint that is later": [
    "checkpoint_invalid",
    "states.a.checkpoint",
    { initial: "a", states: { a: { ...wait, on: { x: "c" }, checkpoint: "c" }, c: { run, on: { y: "b" } }, b: end } },
  ],
  "a checkpoint that has one itself": [
    "checkpoint_invalid",
    "states.d.checkpoint",
    {
      initial: "a",
      states: {
        a: { run, on: { x: "c" } },
        c: { run, on: { x: "d" }, checkpoint: "a" },
        d: { run, on: { x: "b" }, checkpoint: "c" },
        b: end,
      },
    },
  ],
  "a checkpoint that is an end": [
    "checkpoint_invalid",
    "states.c.checkpoint",
    { initial: "a", states: { b: end, a: { run, on: { x: "c" } }, c: { run, on: { x: "b" }, checkpoint: "b" } } },
  ],
  "a recovery with an unknown event": ["event_unknown", "states.a.recoverWith", withA({ ...wait, recoverWith: "y" })],
  "a recovery with a built-in event": [
    "event_unknown",
    "states.a.recoverWith",
    withA({ ...wait, recoverWith: "restart" }),
  ],
  "a recovery with an event that needs a payload": [
    "payload_needed",
    "states.a.recoverWith",
    withA({ forever: true, on: { paid: "b" }, recoverWith: "paid" }, { events: { paid } }),
  ],
  "a checkpoint that waits and does not recover": [
    "recovery_missing",
    "states.c",
    {
      initial: "a",
      recovery: {},
      states: {
        a: { ...wait, on: { x: "c" }, recoverWith: "x" },
        d: { ...wait, on: { y: "c" } },
        c: { run, on: { x: "b", y: "d" }, checkpoint: "d" },
        b: end,
      },
    },
  ],
  "a fallback that failed does not know": [
    "event_unknown",
    "recovery.fallback",
    withRest({ recovery: { fallback: "x" } }),
  ],
  "a fallback that needs a payload": [
    "payload_needed",
    "recovery.fallback",
    {
      initial: "a",
      events: { paid },
      recovery: { fallback: "paid" },
      states: { a: wait, b: end, failed: { on: { paid: "a" } } },
    },
  ],
  "a reset before an unknown state": [
    "state_unknown",
    "recovery.reset.before",
    withA({ run, on: { x: "b" } }, { recovery: { reset: { before: "c", run } } }),
  ],
  "a recovery that could not choose between two events": [
    "recovery_ambiguous",
    "states.a",
    withA({ forever: true, on: { x: "b", y: "b" } }, { recovery: { onlyPermitted: true } }),
  ],
  "a recovery by permitted events where each needs a payload": [
    "recovery_missing",
    "states.a",
    withA({ forever: true, on: { paid: "b" } }, { recovery: { onlyPermitted: true }, events: { paid } }),
  ],
  "an event to recover with that both the state and failed have": [
    "recovery_ambiguous",
    "states.a.recoverWith",
    { initial: "a", states: { a: { ...wait, recoverWith: "x" }, b: end, failed: { on: { x: "a" } } } },
  ],
  "failures that lead to each other for ever": [
    "recovery_cyclic",
    "states.a.on.fail",
    {
      initial: "a",
      states: { a: { run, on: { x: "b", fail: "c" } }, c: { run, on: { y: "b", fail: "a" } }, b: end },
    },
  ],
  "a failure that leads back to itself for ever": [
    "recovery_cyclic",
    "states.a.on.fail",
    withA({ run, on: { x: "b", fail: "a" } }, { builtIns: false }),
  ],
  "a checkpoint of a state that never fails": [
    "recovery_unreachable",
    "states.c.checkpoint",
    {
      initial: "a",
      states: { a: { run, on: { x: "c" } }, c: { run, on: { y: "b", fail: "b" }, checkpoint: "a" }, b: end },
    },
  ],
  "an event to recover with that a checkpoint keeps from being sent": [
    "recovery_unreachable",
    "states.c.recoverWith",
    {
      initial: "a",
      states: { a: { run, on: { x: "c" } }, c: { ...wait, checkpoint: "a", recoverWith: "x" }, b: end },
    },
  ],
  "a reset before the first state": [
    "recovery_unreachable",
    "recovery.reset.before",
    withA({ run, on: { x: "b" } }, { recovery: { reset: { before: "a", run } } }),
  ],
  "a retry with rules that are none": [
    "shape_invalid",
    "states.a.retry.rules",
    withA({ run, on: { x: "b" }, retry: { maxAttempts: 2, backoff: run, rules: {} } }),
  ],
  "a rule of a retry that says nothing of when": [
    "shape_invalid",
    "states.a.retry.rules[0].when",
    withA({ run, on: { x: "b" }, retry: { maxAttempts: 2, backoff: run, rules: [{ maxAttempts: 1 }] } }),
  ],
  "a rule of a retry with too many attempts": [
    "number_invalid",
    "states.a.retry.rules[1].maxAttempts",
    withA({
      run,
      on: { x: "b" },
      retry: { maxAttempts: 2, backoff: run, rules: [{ when: "E" }, { when: ["F"], maxAttempts: 0 }] },
    }),
  ],
  // The built-in ones.
  "a failed state that works": [
    "built_in_changed",
    "states.failed.run",
    { initial: "a", states: { a: wait, b: end, failed: { run, on: { x: "a" } } } },
  ],
  "a failed state that is an end": [
    "built_in_changed",
    "states.failed.final",
    { initial: "a", states: { a: wait, b: end, failed: { final: "failure" } } },
  ],
  "a discarded state with an exit": [
    "built_in_changed",
    "states.discarded.on",
    { initial: "a", states: { a: wait, b: end, discarded: { on: { back: "a" } } } },
  ],
  "a failed state that fails": [
    "built_in_changed",
    "states.failed.on.fail",
    { initial: "a", states: { a: wait, b: end, failed: { on: { fail: "a" } } } },
  ],
  "a restart that leads elsewhere": ["built_in_changed", "on.restart.to", withRest({ on: { restart: { to: "b" } } })],
  "a discard with a target": ["built_in_changed", "on.discard", withRest({ on: { discard: "b" } })],
  "a restart of one state": [
    "built_in_changed",
    "states.a.on.restart",
    withA({ ...wait, on: { x: "b", restart: "a" } }),
  ],
  "a payload of a built-in event": ["built_in_changed", "events.discard", withRest({ events: { discard: paid } })],
  "a payload of an answer": [
    "built_in_changed",
    "events.answered",
    withA({ ask: { queue: answers, sample }, on: { answered: "b" } }, { events: { answered: paid } }),
  ],
  "work without a way to fail": [
    "built_in_missing",
    "states.a.on.fail",
    withA({ run, on: { x: "b" } }, { builtIns: false }),
  ],
  "work that may refuse to fail": [
    "built_in_missing",
    "states.a.on.fail",
    withA({ run, on: { x: "b", fail: { to: "b", guard: run } } }, { builtIns: false }),
  ],
  "a join without a way to fail": [
    "built_in_missing",
    "states.a.on.fail",
    withA({ join: {}, on: { joined: "b" } }, { builtIns: false }),
  ],
  "people without a way to fail": [
    "built_in_missing",
    "states.a.on.fail",
    withA({ ask: { queue: answers, sample }, on: { answered: "b" } }, { builtIns: false }),
  ],
  "a recovery without built-ins": ["built_in_missing", "recovery", withRest({ builtIns: false, recovery: {} })],
  "a deadline without built-ins": [
    "built_in_missing",
    "deadline",
    withRest({ builtIns: false, deadline: { within: "1d" } }),
  ],
  "a checkpoint without built-ins": [
    "built_in_missing",
    "states.c.checkpoint",
    {
      initial: "a",
      builtIns: false,
      states: { a: { forever: true, on: { x: "c" } }, c: { forever: true, on: { x: "b" }, checkpoint: "a" }, b: end },
    },
  ],
  "a recovery of a state without built-ins": [
    "built_in_missing",
    "states.a.recoverWith",
    withA({ ...wait, recoverWith: "x" }, { builtIns: false }),
  ],
  "a timeout that fails without built-ins": [
    "event_unknown",
    "states.a.timeout.send",
    withA({ ...wait, timeout: { after: "1m", send: "fail" } }, { builtIns: false }),
  ],
  // Renamed states.
  "a new name that does not exist": ["renamed_invalid", "renamed.old", withRest({ renamed: { old: "c" } })],
  "a new name that is built in": ["renamed_invalid", "renamed.old", withRest({ renamed: { old: "failed" } })],
  "a new name that is no text": ["renamed_invalid", "renamed.old", withRest({ renamed: { old: 1 } })],
  "an old name that is still a state": ["renamed_invalid", "renamed.a", withRest({ renamed: { a: "b" } })],
};

function chain(length: number): Record<string, unknown> {
  const states: Record<string, unknown> = {};
  for (let at = 0; at < length - 1; at++) states[`s${at}`] = { run, on: { next: `s${at + 1}` } };
  states[`s${length - 1}`] = end;
  return states;
}

describe("a definition is checked before it runs", () => {
  test.each(Object.entries(cases))("%s", (_, [code, place, definition]) => {
    const faults = faultsOf(definition);
    expect(faults.map((fault) => `${fault.code} ${fault.place}`)).toContain(`${code} ${place}`);
    for (const fault of faults) {
      expect(fault.problem).toMatch(/\S.*[.]$/);
      expect(fault.remedy).toMatch(/\S.*[.?]$/);
    }
  });

  test("all faults come at once, each with its place and its remedy", () => {
    const faults = faultsOf({
      initial: "submitted",
      version: 0,
      states: {
        submitted: { run, on: { requested: "gradin" } },
        grading: { on: { graded: "scored" }, checkpoint: "reviewing" },
        scored: { final: "success", on: { regrade: "grading" } },
      },
    });
    expect(faults.map(({ code, place, remedy }) => ({ code, place, remedy }))).toEqual([
      { code: "version_invalid", place: "version", remedy: "Write a whole number from 1 on, higher than before." },
      { code: "final_exit", place: "states.scored.on", remedy: 'Take it out, or take out "final".' },
      { code: "state_unknown", place: "states.submitted.on.requested", remedy: 'Did you mean "grading"?' },
      { code: "checkpoint_invalid", place: "states.grading.checkpoint", remedy: 'Choose one of "submitted".' },
      {
        code: "wait_endless",
        place: "states.grading",
        remedy: "Give the state a `timeout` or the lifecycle a `deadline`, or set `forever: true` if it is intended.",
      },
    ]);
  });

  test("the error tells people what it tells programs", () => {
    const definition = withA({ ...wait, on: { x: "c" } });
    const attempt = () => buildLifecycle("essay", definition);
    expect(attempt).toThrow(PawlError);
    expect(attempt).toThrow(
      [
        'The lifecycle "essay" has 3 faults:',
        '  - states.a.on.x: There is no state "c". Choose one of "a", "b".',
        '  - states.b: Nothing leads here from "a", where an instance starts. Add an edge to it, or take the state out.',
        '  - states.a: No way from here leads to an end. Add an edge towards a state with `final: "success"` or `final: "failure"`.',
      ].join("\n"),
    );
  });

  test("a slip is one fault, not also a state that cannot be reached", () => {
    const faults = faultsOf({
      initial: "one",
      states: { one: { forever: true, on: { x: "finnished" } }, finished: end },
    });
    expect(faults.map((fault) => fault.code)).toEqual(["state_unknown"]);
  });

  test.each(["Essay", "1essay", "", "an essay", "essay!", "é", 5, null, "a".repeat(101)])(
    "%j is not a name",
    (name) => {
      expect(faultsOf(withRest({}), name)).toMatchObject([{ code: "name_invalid", place: "name" }]);
    },
  );

  test.each(["essay", "send-email", "a_1", "a"])("%j is a name", (name) => {
    expect(faultsOf(withRest({}), name)).toEqual([]);
  });
});

describe("what is good passes", () => {
  const good: Record<string, unknown> = {
    "a wait that ends by a timeout": withA({ timeout: { after: "1m", send: "x" }, on: { x: "b" } }),
    "a wait that ends by a function of the data": withA({ timeout: { after: () => null, send: "x" }, on: { x: "b" } }),
    "a wait that ends by the deadline": withA({ on: { x: "b" } }, { deadline: { within: "1d" } }),
    "a wait that fails in the end": withA({ timeout: { after: "1m", send: "fail" }, on: { x: "b" } }),
    "a state that only common edges leave": { initial: "a", on: { x: "b" }, states: { a: { forever: true }, b: end } },
    "work that only common edges leave": { initial: "a", on: { x: "b" }, states: { a: { run }, b: end } },
    "a timeout that sends a common event": {
      initial: "a",
      on: { x: "b" },
      states: { a: { timeout: { after: "1m", send: "x" } }, b: end },
    },
    "a state that only a failure leads to": {
      initial: "a",
      states: { a: { run, on: { x: "b" } }, c: { run, on: { y: "b" } }, b: end, failed: { on: { other: "c" } } },
    },
    "an end by a built-in state": { initial: "a", states: { a: { forever: true, on: { reject: "discarded" } } } },
    "exactly 200 states": { initial: "s0", states: chain(200) },
    "a failed state without anything of its own": { initial: "a", states: { a: wait, b: end, failed: {} } },
    "a checkpoint that a recovery can go on from": {
      initial: "a",
      recovery: {},
      states: {
        a: { ...wait, on: { x: "p" }, recoverWith: "x" },
        p: { release: { interval: "1m", limit: 1, send: "y" }, on: { y: "c" } },
        c: { run, on: { z: "b" }, checkpoint: "p" },
        b: end,
      },
    },
    "a recovery by the only permitted event": withRest({ recovery: { onlyPermitted: true } }),
    "a recovery with an event of failed": {
      initial: "a",
      recovery: {},
      states: { a: { ...wait, recoverWith: "again" }, b: end, failed: { on: { again: "a" } } },
    },
    "a state with its own way out of a failure": withA({ ...wait, on: { x: "b", fail: "b" } }, { recovery: {} }),
    "a payload that may be left out, sent by a timeout": withA(
      { timeout: { after: "1m", send: "noted" }, on: { noted: "b" } },
      { events: { noted: paid.optional() } },
    ),
    "an event called joined where nothing joins": withA(
      { forever: true, on: { joined: "b" } },
      { events: { joined: paid } },
    ),
    "names of built-in events where they are not built in": withA(
      { forever: true, on: { restart: "a", discard: "b" } },
      { builtIns: false, events: { discard: paid } },
    ),
    "a state called failed where it is not built in": {
      initial: "a",
      builtIns: false,
      states: { a: { run, on: { x: "b", fail: "failed" } }, b: end, failed: { final: "failure" } },
    },
    "people who may not answer, without built-ins": withA(
      { ask: { crowd: many, sample }, on: { answered: "b", unanswered: "b" } },
      { builtIns: false },
    ),
  };
  test.each(Object.entries(good))("%s", (_, definition) => {
    expect(faultsOf(definition)).toEqual([]);
  });

  test("undefined is as good as left out", () => {
    const definition = { ...withRest({}), on: undefined, events: undefined, recovery: undefined, version: undefined };
    expect(faultsOf({ ...definition, states: { a: { ...wait, run: undefined, timeout: undefined }, b: end } })).toEqual(
      [],
    );
  });
});

describe("whatever is passed, the answer is a fault and never a crash", () => {
  const keys = [
    "initial",
    "states",
    "on",
    "events",
    "recovery",
    "deadline",
    "a",
    "b",
    "to",
    "run",
    "ask",
    "final",
    "timeout",
    "release",
    "retry",
  ];
  const { anything } = fc.letrec((tie) => ({
    leaf: fc.oneof(
      fc.constantFrom("a", "b", "fail", "1m", undefined, null, run, Symbol("s"), 1n, new Date(0), /x/),
      fc.anything(),
    ),
    node: fc.dictionary(fc.constantFrom(...keys), tie("anything"), { maxKeys: 6 }),
    anything: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      tie("leaf"),
      tie("node"),
      fc.array(tie("anything"), { maxLength: 3 }),
    ),
  }));

  test("anything at all", () => {
    fc.assert(
      fc.property(anything, anything, (name, definition) => void faultsOf(definition, name)),
      { numRuns: 2_000 },
    );
  });

  test("anything in one place of a good definition", () => {
    const places = [
      "data",
      "events",
      "initial",
      "version",
      "builtIns",
      "deadline",
      "recovery",
      "on",
      "states",
      "renamed",
      "onParentEnd",
      "retention",
    ];
    const stateKeys = [
      "run",
      "ask",
      "release",
      "join",
      "final",
      "forever",
      "timeout",
      "checkpoint",
      "recoverWith",
      "retry",
      "uses",
      "limit",
      "rate",
      "share",
      "priority",
      "on",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), anything, (key, value) => void faultsOf(withRest({ [key]: value }))),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...stateKeys),
        anything,
        (key, value) => void faultsOf(withA({ ...wait, [key]: value })),
      ),
      { numRuns: 2_000 },
    );
  });
});
