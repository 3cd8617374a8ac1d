import type { AssignmentAnswer, DeskWorkAnswer } from "../../../src/http/contract.ts";
import { Refused } from "../api.ts";
import type { DeskApi } from "./api.ts";

/** Something to do, begun; or why there is nothing. */
export type Found = Omit<DeskWorkAnswer, "now"> | { readonly why: string };

/** Finds what a labeler is to do: what lies on his desk already, else what comes next. */
export class Finding {
  readonly #api: DeskApi;
  readonly #queue: string;
  /** What the page is done with: what it knows of the desk may be older. */
  readonly #ended = new Set<string>();

  constructor(api: DeskApi, queue: string) {
    this.#api = api;
    this.#queue = queue;
  }

  end(id: string): void {
    this.#ended.add(id);
  }

  /**
   * Nothing is asked for before it is wanted: what is handed out is reserved, and would expire on somebody who takes his
   * time over the one before. Undefined when its time was over before it could be begun.
   */
  async find(inHand: readonly AssignmentAnswer[]): Promise<Found | undefined> {
    const held = inHand.find(({ id }) => !this.#ended.has(id));
    if (held !== undefined) return this.#begun(await this.#api.work(held.id));
    const next = await this.#api.next(this.#queue);
    if (next.assignment === null) return { why: next.why.sentence };
    const isNew = !next.resumed && next.assignment.revisionOf === null;
    return this.#begun(isNew ? { ...next, draft: null, revises: null } : await this.#api.work(next.assignment.id));
  }

  async #begun(work: Omit<DeskWorkAnswer, "now">): Promise<Found | undefined> {
    const assignment = await this.#started(work.assignment);
    if (assignment?.status === "in_progress") return { ...work, assignment };
    this.end(work.assignment.id);
    return undefined;
  }

  async #started(assignment: AssignmentAnswer): Promise<AssignmentAnswer | undefined> {
    if (assignment.status !== "pending") return assignment;
    try {
      return await this.#api.start(assignment.id);
    } catch (error) {
      if (error instanceof Refused && error.problem.status === 409) return undefined;
      throw error;
    }
  }
}
