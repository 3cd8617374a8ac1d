import { expect, test } from "vitest";
import { attentionOf, type SystemStatus } from "./attention.ts";

const calm: SystemStatus = {
  oldest: undefined,
  waiting: { dead_letters: 0 },
  outbox: { dead: 0, oldest_age_ms: null },
  alerts: { oldest_age_ms: null, error: null },
  breakers: [],
  workers: [{ silent: false, stuck: 0 }],
  pauses: [],
  stuck: [],
  schedules: [{ name: "nightly", last_result: "started", last_error: null }],
};

const group = { lifecycle: "essay", queue: null };

const texts = (standing: Partial<SystemStatus>) => attentionOf({ ...calm, ...standing }).map(({ text }) => text);

test("nothing needs anybody while all is well", () => {
  expect(attentionOf(calm)).toEqual([]);
  expect(texts({ oldest: { lane: "essay@1/grading", seconds: 20 } })).toEqual([]);
});

test("what needs somebody is said in a sentence each, the worst first", () => {
  const needs = attentionOf({
    oldest: { lane: "essay@1/grading", seconds: 300 },
    waiting: { dead_letters: 1_200 },
    outbox: { dead: 2, oldest_age_ms: 3 * 3_600_000 },
    alerts: { oldest_age_ms: 3 * 60_000, error: "webhook: it answered 500" },
    breakers: [
      { name: "llm", state: "open" },
      { name: "post", state: "half_open" },
    ],
    workers: [
      { silent: false, stuck: 2 },
      { silent: true, stuck: 1 },
    ],
    stuck: [
      { ...group, reason: "overdue", lane: null, sentence: "1 instance is overdue." },
      { ...group, reason: "dead_letter", lane: null, sentence: "Told above." },
      { ...group, reason: "unassignable", lane: null, queue: "a b", sentence: "Nobody may label it." },
      { ...group, reason: "ready_too_long", lane: "essay@1/scoring", sentence: "It waits long." },
    ],
    pauses: [{ lifecycle: "essay", part: "/grading", reason: "nonsense" }],
    schedules: [{ name: "nightly", last_result: "failed", last_error: "no room" }],
  });
  expect(needs.map(({ level, text, page }) => `${level} ${page} ${text}`)).toEqual([
    "bad /workers 1 instance is overdue.",
    "bad /people/a%20b Nobody may label it.",
    "bad /breakers 2 breakers are not closed: llm, post.",
    "bad /dead 1,200 dead letters await a decision.",
    "bad /outbox 2 messages are dead.",
    "warn /lifecycles/essay It waits long.",
    "warn /workers 1 worker has stopped sending heartbeats.",
    "warn /workers 2 steps ignore their aborted signal: restart the process, and pass `step.signal` on.",
    "warn /lifecycles/essay essay/grading is paused: nonsense",
    "warn /schedules The last run of nightly failed: no room",
    "warn /workers Work in essay@1/grading has been ready for 5 minutes.",
    "warn /outbox The oldest message has waited 3 hours to be sent.",
    "warn / Alerts cannot be delivered; the oldest has waited 3 minutes: webhook: it answered 500",
  ]);
});

test("work that nobody is there to do is worse than work that waits", () => {
  const oldest = { lane: "essay@1/grading", seconds: 5 };
  expect(texts({ oldest, workers: [] })).toEqual(["Work waits in essay@1/grading, but no worker is running."]);
  expect(texts({ oldest, workers: [{ silent: true, stuck: 0 }] })).toHaveLength(2);
});

test("a lane that is stuck is named once", () => {
  const oldest = { lane: "essay@1/grading", seconds: 300 };
  const stuck = [{ ...group, reason: "no_worker" as const, lane: oldest.lane, sentence: "No live worker." }];
  expect(texts({ oldest, workers: [], stuck })).toEqual(["No live worker."]);
  expect(texts({ oldest, stuck: [{ ...stuck[0]!, lane: "essay@1/scoring" }] })).toHaveLength(2);
});
