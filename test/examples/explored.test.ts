import { explore } from "pawl/testing";
import { expect, test } from "vitest";
import { assessment } from "../../examples/assessment/assessment.ts";
import { servicesAt } from "../../examples/assessment/services/clients.ts";
import { submissionLifecycle } from "../../examples/grading/submission.ts";

const nowhere = "http://127.0.0.1:9";
const services = servicesAt({ checker: nowhere, plagiarism: nowhere, proctoring: nowhere, verdicts: nowhere });

test("an attempt of the assessment is left in every state, recovers from every failure, and forgets no event", () => {
  const { attempt } = assessment(services);
  const { findings, states } = explore(attempt);
  // Only an attempt that failed over its solves is reprocessed, so it has children; the definition cannot say that.
  expect(findings).toEqual([expect.objectContaining({ code: "join_skipped", event: "reprocess_solves" })]);
  const failures = Object.fromEntries(states.map(({ name, failure }) => [name, failure]));
  expect(failures.solves_processing).toMatchObject({ kind: "recovers", states: ["attempt_cleanup"] });
  expect(failures.indexing_for_plagiarism).toMatchObject({ states: ["enqueued_for_plagiarism_index"] });
  expect(failures.indexed_for_plagiarism).toMatchObject({ states: ["additional_attempt_info_stored"] });
});

test("a solve goes round until its step gives up, and a verdict of an earlier run finds it submitting: both are meant", () => {
  const { solve } = assessment(services);
  expect(explore(solve).findings.map(({ code, state, event }) => [code, state, event])).toEqual([
    ["loop_unbounded", "submitting", "submitted"], // The step counts its runs, and gives up.
    ["event_forgotten", "submitting", "verdict"], // The code checker is refused, and comes again.
  ]);
});

test("a graded submission keeps its deadline, for each skill that there is", () => {
  const data = (["writing", "speaking"] as const).map((skill) => ({ skill, text: "" }));
  expect(explore(submissionLifecycle(), { data }).findings).toEqual([]);
});
