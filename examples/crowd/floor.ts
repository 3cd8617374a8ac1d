import type { MemoryAssignment, MemoryMarketplace } from "pawl/testing";
import { type Paper, papers } from "./papers.ts";
import { fits, Reading } from "./receipts.ts";
import { courseOf, type SimulatedWorker, team } from "./workers.ts";

export interface Tally {
  submitted: number;
  returned: number;
  vanished: number;
}

/** The simulated workers of the marketplace. Each sees a receipt once. */
export class Floor {
  readonly #market: MemoryMarketplace;
  readonly #seed: number;
  readonly #tried = new Set<string>();
  /** Taken by a worker who has left. */
  readonly #left: string[] = [];
  readonly tallies = new Map(team.map(({ name }) => [name, { submitted: 0, returned: 0, vanished: 0 } as Tally]));
  readonly #submissions: string[] = [];
  #hasPaidByMistake = false;

  constructor(market: MemoryMarketplace, seed: number) {
    this.#market = market;
    this.#seed = seed;
  }

  /** Does everything that is possible at the moment, once; returns the postings with new submissions. */
  async work(): Promise<string[]> {
    for (const id of this.#left.splice(0)) this.#market.workers.abandon(id);
    const told: string[] = [];
    for (const posting of this.#market.workers.openJobs()) {
      const paper = paperOf(posting.content);
      const worker = paper && this.#whoLooks(paper, posting.id);
      if (worker === undefined) continue;
      this.#tried.add(`${posting.id} ${worker.name}`);
      if (await this.#look(worker, paper!, posting.id)) told.push(posting.id);
    }
    return told;
  }

  /** No worker can do anything, unless there are new jobs. */
  get isIdle(): boolean {
    return (
      this.#left.length === 0 &&
      this.#market.workers.openJobs().every((posting) => {
        const paper = paperOf(posting.content);
        return paper === undefined || this.#whoLooks(paper, posting.id) === undefined;
      })
    );
  }

  /** The submissions, as the marketplace stores them. */
  get submissions(): MemoryAssignment[] {
    return this.#submissions.map((id) => this.#market.workers.assignment(id));
  }

  #whoLooks(paper: Paper, posting: string): SimulatedWorker | undefined {
    if (paper.isUnloved === true) return undefined;
    const first = papers.indexOf(paper); // They do not all begin with the same receipt.
    const inTurn = team.map((_, at) => team[(first + at) % team.length]!);
    return inTurn.find(({ name }) => !this.#tried.has(`${posting} ${name}`));
  }

  async #look(worker: SimulatedWorker, paper: Paper, posting: string): Promise<boolean> {
    const { workers } = this.#market;
    const tally = this.tallies.get(worker.name)!;
    const id = workers.accept(posting, worker.name);
    const course = courseOf(worker, paper, this.#seed);
    if (course === "returns") {
      workers.return(id);
      tally.returned++;
      return false;
    }
    if (course === "vanishes") {
      this.#left.push(id);
      tally.vanished++;
      return false;
    }
    workers.submit(id, course.submits);
    tally.submitted++;
    this.#submissions.push(id);
    await this.#payByMistake(id, paper, course.submits);
    return true;
  }

  /** Once, a person at the marketplace approves a wrong reading before Pawl has seen it. */
  async #payByMistake(id: string, { isSmudged }: Paper, answer: unknown): Promise<void> {
    const { success, data } = Reading.safeParse(answer);
    if (this.#hasPaidByMistake || isSmudged === true || !success || data.total === 0 || fits(data)) return;
    this.#hasPaidByMistake = true;
    const call = { signal: new AbortController().signal };
    // Its reply may be one of those that are lost; it is paid all the same.
    await this.#market.decide(id, { verdict: "approved", feedback: null }, call).catch(() => {});
  }
}

/** The receipt of a posting; none for another requester's. */
function paperOf(content: unknown): Paper | undefined {
  const { shop } = content as { shop: string };
  return papers.find((paper) => paper.shop === shop);
}
