import type { AssignmentResponse, DeskWorkResponse } from "../../../src/http/contract.ts";
import { Refused } from "../api.ts";
import { partsOf } from "../parts/sample/content.ts";
import type { DeskApi } from "./api.ts";

type Work = Omit<DeskWorkResponse, "now">;

/** Something to do, begun; or why there is nothing. */
export type FoundWork = Work | { readonly why: string };

/** Finds the next assignment of a labeler: an open one, otherwise a new one. */
export class NextAssignment {
  readonly #api: DeskApi;
  readonly #queue: string;
  /** Assignments that this page has ended: the desk that it has read may be older. */
  readonly #ended = new Set<string>();
  /** The prefetched assignment, and the current one at that time. */
  #ahead: Work | undefined;
  #aheadOf: string | undefined;
  #fetching: Promise<void> | undefined;

  constructor(api: DeskApi, queue: string) {
    this.#api = api;
    this.#queue = queue;
  }

  end(id: string): void {
    this.#ended.add(id);
  }

  /**
   * Prefetches the next assignment, once, if the queue allows more than one open assignment. An assignment is reserved
   * and expires unless it is started, so nothing is prefetched before the labeler has begun to answer.
   */
  fetchAhead(id: string, concurrency: number): void {
    if (concurrency < 2 || this.#aheadOf === id) return;
    this.#aheadOf = id;
    // A failed prefetch is repeated when the assignment is needed, and reports its error then.
    this.#fetching = this.#fetch().catch(() => {});
  }

  /** Undefined if it expired before it could be started. */
  async find(assignments: readonly AssignmentResponse[]): Promise<FoundWork | undefined> {
    await this.#fetching;
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead !== undefined) return this.#begun(ahead);
    const held = assignments.find(({ id }) => !this.#ended.has(id));
    if (held !== undefined) return this.#begun(await this.#api.work(held.id));
    const next = await this.#api.next(this.#queue);
    if (next.assignment === null) return { why: next.why.sentence };
    const isNew = !next.resumed && next.assignment.revisionOf === null;
    return this.#begun(isNew ? { ...next, draft: null, revises: null } : await this.#api.work(next.assignment.id));
  }

  async #fetch(): Promise<void> {
    const next = await this.#api.next(this.#queue);
    if (next.assignment === null || next.resumed) return;
    this.#ahead = { ...next, draft: null, revises: null };
    for (const part of partsOf(next.sample.data)) if (part.kind === "image") new Image().src = part.value;
  }

  async #begun(work: Work): Promise<FoundWork | undefined> {
    const assignment = await this.#started(work.assignment);
    if (assignment?.status === "in_progress") return { ...work, assignment };
    this.end(work.assignment.id);
    return undefined;
  }

  async #started(assignment: AssignmentResponse): Promise<AssignmentResponse | undefined> {
    if (assignment.status !== "pending") return assignment;
    try {
      return await this.#api.start(assignment.id);
    } catch (error) {
      if (error instanceof Refused && error.problem.status === 409) return undefined;
      throw error;
    }
  }
}
