import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Effect, Step } from "./language/step.ts";
import { lifecycle } from "./lifecycle.ts";
import { type Context, discarded, failed } from "./model.ts";
import { queue } from "./queue.ts";

/** Three complete lifecycles, as authors write them: checks the model that the kernel gets. */

const maxReruns = 5;

const Solve = z.object({
  question: z.string(),
  code: z.string(),
  runs: z.number().int().default(0),
  runId: z.string().optional(),
  score: z.number().optional(),
});
type Solve = z.infer<typeof Solve>;

const solve = lifecycle("solve", {
  data: Solve,
  events: { verdict: z.object({ runId: z.string(), score: z.number() }) },
  initial: "submitting",
  on: {
    resubmit: {
      to: "submitting",
      guard: ({ data }) => data.runId !== undefined || "it never ran",
      set: ({ data }) => (data.runs >= maxReruns ? { runs: 0 } : {}),
    },
  },
  states: {
    submitting: { run: submitToChecker, uses: "code-checker", on: { submitted: "checking" } },
    checking: {
      timeout: { after: "5m", send: "lost" },
      on: {
        verdict: {
          to: "checked",
          guard: ({ data, payload }) => payload.runId === data.runId || "of an earlier run",
          set: ({ payload }) => ({ score: payload.score }),
        },
        lost: "submitting",
      },
    },
    checked: { final: "success" },
  },
});

const Attempt = z.object({ finished: z.boolean(), solves: z.array(Solve) });
type Attempt = z.infer<typeof Attempt>;

const attempt = lifecycle("attempt", {
  data: Attempt,
  initial: "created",
  recovery: {
    maxFailures: 3,
    after: "10m",
    fallback: "reprocess_solves",
    onlyPermitted: true,
    reset: { before: "solves_processed", run: resubmitSolves },
  },
  on: { restart: { after: completeAgain }, discard: { after: cleanUp } },
  states: {
    created: {
      forever: true,
      on: {
        complete: "completed",
        force_complete: {
          to: "completed",
          guard: ({ data }) => data.finished || "the candidate is still working",
        },
      },
      recoverWith: "force_complete",
    },
    completed: { run: tidy, on: { clean_up: "attempt_cleanup" } },
    attempt_cleanup: { run: startSolves, on: { start_solve_processing: "solves_processing" } },
    solves_processing: {
      join: { failed: "fail" },
      timeout: { after: "30m", send: "fail" },
      on: { joined: "solves_processed" },
      checkpoint: "attempt_cleanup",
    },
    solves_processed: { run: tidy, on: { enqueue_plagiarism_index: "enqueued_for_plagiarism_index" } },
    enqueued_for_plagiarism_index: {
      release: { interval: "1m", limit: 500, send: "start_index_for_plagiarism" },
      on: { start_index_for_plagiarism: "indexing_for_plagiarism" },
    },
    indexing_for_plagiarism: {
      run: tidy,
      uses: "plagiarism",
      on: { index_done: "indexed_for_plagiarism" },
      checkpoint: "enqueued_for_plagiarism_index",
    },
    indexed_for_plagiarism: {
      run: tidy,
      on: { store_info: "additional_attempt_info_stored" },
      recoverWith: "retry_verify_proctor_results",
    },
    // The position of the states in the order is inferred.
    additional_attempt_info_stored: {
      run: tidy,
      uses: "proctoring",
      on: { verify_proctor_results: "proctoring_results_generated" },
    },
    proctoring_results_generated: { run: tidy, on: { calculate_score: "score_calculated" } },
    score_calculated: {
      release: { interval: "1m", limit: 500, send: "enqueue_plagiarism_calculation" },
      on: { enqueue_plagiarism_calculation: "enqueued_for_plagiarism_calculation" },
    },
    enqueued_for_plagiarism_calculation: {
      run: tidy,
      uses: "plagiarism",
      on: { finish: "processed" },
      checkpoint: "score_calculated",
    },
    processed: { final: "success" },
    failed: {
      on: {
        reprocess_solves: { to: "solves_processing", after: resubmitSolves },
        retry_verify_proctor_results: "additional_attempt_info_stored",
      },
    },
  },
});

async function submitToChecker(step: Step<Solve>): Promise<void> {
  step.set({ runs: step.data.runs + 1, runId: step.idempotencyKey });
}
async function tidy(_step: Step<Attempt>): Promise<void> {}
async function completeAgain(_effect: Effect<Attempt>): Promise<void> {}
async function cleanUp(_effect: Effect<Attempt>): Promise<void> {}
async function startSolves(step: Step<Attempt>): Promise<void> {
  for (const one of step.data.solves) step.start(solve, { key: one.question, data: one });
}
async function resubmitSolves(work: Pick<Effect<Attempt>, "children" | "send">): Promise<void> {
  for (const child of await work.children(solve)) if (child.state !== "checked") work.send(solve, child, "resubmit");
}

describe("an assessment attempt", () => {
  const states = [...attempt.states.values()];
  const mapOf = (key: "checkpoint" | "recoverWith") =>
    Object.fromEntries(states.filter((state) => state[key] !== undefined).map((state) => [state.name, state[key]]));

  test("R4 the definition carries its numbers and maps as data", () => {
    expect(attempt.recovery).toMatchObject({ maxFailures: 3, after: "10m", fallback: "reprocess_solves" });
    expect(attempt.recovery?.reset).toEqual({ before: "solves_processed", run: resubmitSolves });
    expect(mapOf("checkpoint")).toEqual({
      indexing_for_plagiarism: "enqueued_for_plagiarism_index",
      enqueued_for_plagiarism_calculation: "score_calculated",
      solves_processing: "attempt_cleanup",
    });
    expect(mapOf("recoverWith")).toEqual({
      created: "force_complete",
      indexed_for_plagiarism: "retry_verify_proctor_results",
    });
    const parked = states.filter((state) => state.kind === "park").map((state) => state.name);
    expect(parked).toEqual(["enqueued_for_plagiarism_index", "score_calculated"]);
    const builtIn = new Set(attempt.edges.filter((edge) => edge.builtIn).map((edge) => edge.event));
    expect([...builtIn].sort()).toEqual(["discard", "fail", "recover", "restart"]);
  });

  test("a state's rank is its place in the order of declaration", () => {
    const ranks = ["attempt_cleanup", "solves_processed", "score_calculated"].map(
      (name) => attempt.states.get(name)?.rank,
    );
    expect(ranks).toEqual([2, 4, 10]);
  });

  test("R27 fail leads from every state that has not ended to failed", () => {
    const from = attempt.edges.filter((edge) => edge.event === "fail").map((edge) => edge.from);
    const open = states
      .filter((state) => state.final === undefined && state.name !== failed)
      .map((state) => state.name);
    expect(from).toEqual(open);
    expect(attempt.edges.filter((edge) => edge.event === "fail").every((edge) => edge.to === failed)).toBe(true);
    expect(attempt.edgesFrom(failed, "fail")).toEqual([]);
    expect(attempt.edgesFrom(discarded, "fail")).toEqual([]);
  });

  test("R28 restart leads from every state but created and discarded to created, and completes again", () => {
    const edges = attempt.edges.filter((edge) => edge.event === "restart");
    const others = [...attempt.states.keys()].filter((name) => name !== "created" && name !== discarded);
    expect(edges.map((edge) => edge.from)).toEqual(others);
    expect(edges.every((edge) => edge.to === "created" && edge.after === completeAgain)).toBe(true);
    expect(attempt.edgesFrom("processed", "restart")).toHaveLength(1);
  });

  test("R29 discard leads from every state but discarded to discarded, cleans up, and nothing leads back", () => {
    const edges = attempt.edges.filter((edge) => edge.event === "discard");
    expect(edges.map((edge) => edge.from)).toEqual([...attempt.states.keys()].filter((name) => name !== discarded));
    expect(edges.every((edge) => edge.to === discarded && edge.after === cleanUp)).toBe(true);
    expect(attempt.eventsFrom(discarded)).toEqual([]);
  });

  test("two events of its own lead out of failed", () => {
    expect(attempt.edgesFrom(failed, "reprocess_solves")).toMatchObject([
      { to: "solves_processing", after: resubmitSolves, builtIn: false },
    ]);
    expect(attempt.edgesFrom(failed, "retry_verify_proctor_results")).toMatchObject([
      { to: "additional_attempt_info_stored", builtIn: false },
    ]);
  });

  test("recover leads from failed to every state in which work can go on", () => {
    const targets = attempt.edgesFrom(failed, "recover").map((edge) => edge.to);
    expect(targets).toEqual(
      states.filter((state) => state.final === undefined && !state.builtIn).map((state) => state.name),
    );
  });

  test("a solve can be submitted again from wherever it has not ended", () => {
    const from = solve.edges.filter((edge) => edge.event === "resubmit").map((edge) => edge.from);
    expect(from).toEqual(["submitting", "checking", failed]);
    expect(solve.states.get("submitting")?.outcome).toBe("submitted");
  });
});

const Assignment = z.object({
  labelerId: z.string(),
  startWithinS: z.number().nullable(),
  finishWithinS: z.number(),
  attempts: z.number(),
  labelId: z.string().optional(),
  startedAt: z.string().optional(),
  completedAt: z.string().optional(),
  expiredAt: z.string().optional(),
  skippedAt: z.string().optional(),
  skipReason: z.string().optional(),
});
type Assignment = z.infer<typeof Assignment>;

const isAssignee = ({ data, actor }: Context<Assignment>) => data.labelerId === actor || "it is another labeler's";

const assignment = lifecycle("assignment", {
  data: Assignment,
  events: {
    submit: z.object({ labelId: z.string(), label: z.json() }),
    skip: z.object({ reason: z.string().optional() }),
  },
  builtIns: false,
  initial: "pending",
  states: {
    pending: {
      timeout: { after: ({ data }) => (data.startWithinS === null ? null : `${data.startWithinS}s`), send: "expire" },
      on: {
        start: {
          to: "in_progress",
          guard: isAssignee,
          set: ({ data, now }) => ({ startedAt: now, attempts: data.attempts + 1 }),
        },
        expire: { to: "expired", set: ({ now }) => ({ expiredAt: now }), before: freeSlot },
      },
    },
    in_progress: {
      timeout: { after: ({ data }) => `${data.finishWithinS}s`, send: "expire" },
      on: {
        submit: {
          to: "completed",
          guard: isAssignee,
          set: ({ payload, now }) => ({ labelId: payload.labelId, completedAt: now }),
        },
        skip: {
          to: "skipped",
          guard: isAssignee,
          set: ({ payload, now }) => ({ skippedAt: now, skipReason: payload.reason }),
          before: freeSlot,
        },
        expire: { to: "expired", set: ({ now }) => ({ expiredAt: now }), before: freeSlot },
        extend: { to: "in_progress", guard: isAssignee },
      },
    },
    completed: { final: "success" },
    expired: { final: "failure" },
    skipped: { final: "failure" },
  },
});

async function freeSlot({
  data,
  tx,
}: Context<Assignment> & { tx: { query(text: string, values: unknown[]): Promise<unknown> } }): Promise<void> {
  await tx.query("update slots set labeler = null where labeler = $1", [data.labelerId]);
}

describe("a labeling assignment", () => {
  test("it has exactly five states, and nothing is added to them", () => {
    expect([...assignment.states.keys()]).toEqual(["pending", "in_progress", "completed", "expired", "skipped"]);
    expect(assignment.edges.map(({ from, event, to }) => `${from} ${event} ${to}`)).toEqual([
      "pending start in_progress",
      "pending expire expired",
      "in_progress submit completed",
      "in_progress skip skipped",
      "in_progress expire expired",
      "in_progress extend in_progress",
    ]);
  });

  test("its times are functions of its data", () => {
    const [start] = assignment.states.get("pending")!.timeouts;
    const waits = start!.after as (context: unknown) => unknown;
    expect([waits({ data: { startWithinS: null } }), waits({ data: { startWithinS: 300 } })]).toEqual([null, "300s"]);
  });
});

const essays = queue("essays", { label: z.object({ score: z.number().min(0).max(10) }), overlap: 2 });

const essay = lifecycle("essay", {
  data: z.object({
    skill: z.enum(["writing", "speaking"]),
    text: z.string(),
    draft: z.number().optional(),
    score: z.number().optional(),
  }),
  events: { graded: z.object({ score: z.number() }) },
  initial: "submitted",
  deadline: { within: ({ data }) => (data.skill === "writing" ? "20m" : "60m"), late: "keep" },
  states: {
    submitted: {
      run: async (step) => {
        step.publish("grading.request", { text: step.data.text });
      },
      on: { requested: "grading" },
    },
    grading: {
      on: { graded: { to: "reviewing", set: ({ payload }) => ({ draft: payload.score }) } },
      recoverWith: "resubmit",
    },
    reviewing: {
      ask: { queue: essays, sample: ({ data }) => ({ text: data.text }) },
      on: { answered: { to: "scored", set: ({ payload }) => ({ score: payload.consensus.score }) } },
    },
    scored: { final: "success" },
    failed: { on: { resubmit: "submitted" } },
  },
  recovery: { maxFailures: 3, after: "10m" },
});

describe("a graded essay", () => {
  test("the deadline is a function of the data, in one place", () => {
    const within = essay.deadline?.within as (context: unknown) => unknown;
    expect([within({ data: { skill: "writing" } }), within({ data: { skill: "speaking" } })]).toEqual(["20m", "60m"]);
    expect(essay.deadline?.late).toBe("keep");
  });

  test("people are an ordinary step of it", () => {
    expect(essay.states.get("reviewing")).toMatchObject({ kind: "ask", ask: { queue: essays } });
  });
});
