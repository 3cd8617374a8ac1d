import { PawlError } from "../../base/errors.ts";
import type { QueueSettings } from "../../definition/queue-settings.ts";
import { Batcher } from "../../kernel/batcher.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { fireTimersOf } from "../../kernel/move/fire-timers.ts";
import { planStart, startAll } from "../../kernel/move/start.ts";
import type { PlannedStart } from "../../kernel/types/start.ts";
import { assignmentOfInstance, startOf } from "../lifecycle/new-assignment.ts";
import { queueUnknown } from "../refusals.ts";
import { type Assignment, assignmentOf, type SampleInfo, sampleOf } from "../results.ts";
import { type AssignmentRow, countHeldByOthers, readVisits, type Visit } from "../store/assignments.ts";
import { readContents } from "../store/samples.ts";
import { scanSlots } from "../store/slots.ts";
import { expireOverdue } from "./expire-due.ts";
import { inactiveQueue, maxHeldCounted, type NoWorkReason, noWorkFor, whyNotEligible } from "./no-work-reason.ts";
import { type FoundSlot, QueueScan } from "./queue-scan.ts";
import { NoWorkCache, ScanPositions } from "./scan-cache.ts";
import { readWindows, type Windows } from "./windows.ts";

/** The result of `next`. */
export type Next =
  | {
      readonly assignment: Assignment;
      /** The sample. */
      readonly sample: SampleInfo;
      /** The labeler already had it assigned. */
      readonly resumed: boolean;
      readonly why?: undefined;
    }
  | {
      readonly assignment: null;
      readonly sample?: undefined;
      readonly resumed?: undefined;
      readonly why: NoWorkReason;
    };

interface NextCall {
  readonly queue: string;
  readonly labeler: string;
}

/** A request for work, and its progress. */
class Request {
  readonly asking: NextCall;
  readonly name: string;
  walk: QueueScan;
  settings: QueueSettings | undefined;
  desk: readonly AssignmentRow[] = [];
  /** The assignment: an existing one, or a new one. */
  resumes: AssignmentRow | undefined;
  gets: PlannedStart | undefined;
  /** How often another process claimed the slot first. */
  lost = 0;
  answer: Next | PawlError | undefined;

  constructor(asking: NextCall, marks: ScanPositions) {
    this.asking = asking;
    this.name = nameOf(asking);
    this.walk = new QueueScan(asking.labeler, marks.get(this.name));
  }

  begin(marks: ScanPositions): void {
    this.walk = new QueueScan(this.asking.labeler, marks.get(this.name));
    this.settings = undefined;
    this.gets = undefined;
  }

  /** No new assignment; the result is an existing one, if any. */
  end(why: NoWorkReason): void {
    if (this.desk[0] === undefined) this.answer = { assignment: null, why };
    else this.resumes = this.desk[0];
  }
}

const maxAtOnce = 200;
const maxRounds = 30;
const fewSlots = 32;

/**
 * Assigns samples. Concurrent calls form a batch: one round reads the labelers and the open slots, and assigns them in
 * one statement. Calls that lost a slot to another process retry after a short delay.
 */
export class Assigner {
  readonly #kernel: Kernel;
  readonly #batcher: Batcher<NextCall, Next | PawlError>;
  readonly #marks = new ScanPositions();
  readonly #empties = new NoWorkCache();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#batcher = new Batcher((batch) => this.#serve(batch), { maxBatch: maxAtOnce, concurrency: 1 });
  }

  async next(queue: string, labeler: string): Promise<Next> {
    const answer = await this.#batcher.add({ queue, labeler });
    if (answer instanceof PawlError) throw answer;
    return answer;
  }

  async #serve(batch: readonly NextCall[]): Promise<(Next | PawlError)[]> {
    const requests = new Map<string, Request>();
    for (const asking of batch) {
      const name = nameOf(asking);
      if (!requests.has(name)) requests.set(name, new Request(asking, this.#marks));
    }
    let open = [...requests.values()];
    for (let round = 0; open.length > 0 && round < maxRounds; round++) {
      for (const one of open) one.begin(this.#marks);
      await this.#round(open);
      open = open.filter((one) => one.answer === undefined);
    }
    for (const one of open) one.answer = new PawlError("busy", "Contention on this queue. Try again.");
    return batch.map((asking) => requests.get(nameOf(asking))!.answer!);
  }

  async #round(requests: readonly Request[]): Promise<void> {
    const most = fewSlots + 2 * requests.length;
    const [visits, windows] = await Promise.all([
      readVisits(
        this.#kernel.db,
        requests.map((one) => one.asking),
      ),
      readWindows(this.#kernel.db, requests, most),
    ]);
    const overdue = requests.flatMap((one, index) => this.#meet(one, visits[index]!));
    await this.#find(
      requests.filter((one) => one.settings !== undefined),
      windows,
      most,
    );
    if (overdue.length > 0) await fireTimersOf(this.#kernel, overdue);
    await this.#give(requests);
  }

  /** Handles what needs no scan. Returns overdue assignments, which the call expires before it retries. */
  #meet(request: Request, visit: Visit): string[] {
    const { queue, labeler } = request.asking;
    if (visit.queue === null) {
      request.answer = queueUnknown(queue);
      return [];
    }
    request.desk = visit.desk ?? [];
    const overdue = request.desk.filter((row) => row.due_ms !== null && row.due_ms <= row.now_ms);
    if (overdue.length > 0) return overdue.map((row) => row.id);
    const settings = visit.queue.settings as unknown as QueueSettings;
    const waiting = request.desk.find((row) => row.status === "pending");
    const full = request.desk.length >= settings.concurrency ? request.desk[0] : undefined;
    request.resumes = waiting ?? full;
    if (request.resumes !== undefined) return [];
    const why = visit.queue.active
      ? (whyNotEligible(queue, settings, labeler, visit.labeler) ?? this.#empties.get(request.name))
      : inactiveQueue(queue);
    if (why === undefined) request.settings = settings;
    else request.end(why);
    return [];
  }

  /** Finds a slot for each call: in the windows that were read for all, or in a scan of its own. */
  async #find(requests: readonly Request[], windows: Windows, most: number): Promise<void> {
    const taken = new Set<string>();
    for (const one of requests) {
      const { walk, asking } = one;
      let found = walk.look(windows(one), most);
      for (;;) {
        const free = found.filter(({ slot }) => !taken.has(`${slot.sampleId}/${slot.no}`));
        // After a lost race, each takes another slot than the first.
        const chosen = free[Math.floor(Math.random() * Math.min(free.length, 2 ** one.lost))];
        if (chosen !== undefined) {
          taken.add(`${chosen.slot.sampleId}/${chosen.slot.no}`);
          this.#plan(one, chosen);
          break;
        }
        if (walk.isOver) {
          await this.#tellEmpty(one);
          break;
        }
        const stride = walk.stride();
        found = walk.strode(await scanSlots(this.#kernel.db, { ...asking, ...stride }), stride.most);
      }
      this.#marks.set(one.name, walk.mark());
    }
  }

  #plan(request: Request, found: FoundSlot): void {
    const places = new Set(request.desk.map((row) => row.place));
    let place = 1;
    while (places.has(place)) place += 1;
    request.gets = planStart(
      this.#kernel,
      startOf(this.#kernel, request.asking, request.settings!, { ...found, place }),
    );
  }

  async #tellEmpty(request: Request): Promise<void> {
    const { asking, walk, name } = request;
    const { held, overdue } = await countHeldByOthers(this.#kernel.db, asking, maxHeldCounted);
    // Overdue assignments may not have expired yet: they are expired before a labeler gets no sample.
    if (overdue && (await expireOverdue(this.#kernel, asking.queue)).length > 0) return;
    const why = noWorkFor(asking.queue, walk.tally, held);
    this.#empties.set(name, why, walk.passed);
    request.end(why);
  }

  /** Writes the assignments in one statement, and reads their samples with it. */
  async #give(requests: readonly Request[]): Promise<void> {
    const getting = requests.filter((one) => one.gets !== undefined);
    const resuming = requests.filter((one) => one.resumes !== undefined);
    if (getting.length + resuming.length === 0) return;
    const planned = getting.map((one) => one.gets!);
    const samples = [
      ...planned.map((one) => (one.decision.instance.data as { sampleId: string }).sampleId),
      ...resuming.map((one) => one.resumes!.sample_id),
    ];
    const [started, contents] = await Promise.all([
      planned.length === 0 ? [] : startAll(this.#kernel, this.#kernel.db, planned),
      readContents(this.#kernel.db, [...new Set(samples)]),
    ]);
    const content = new Map(contents.map((one) => [one.id, sampleOf(one)]));
    for (const [index, one] of getting.entries()) {
      const start = started[index]!;
      if (start.ok) {
        const given = assignmentOfInstance(start.instance);
        one.answer = { assignment: given, sample: content.get(given.sampleId)!, resumed: false };
      } else if (start.error.code === "busy" || start.error.code === "assignment_conflict") one.lost += 1;
      else one.answer = start.error;
    }
    for (const one of resuming) {
      const row = one.resumes!;
      one.answer = { assignment: assignmentOf(row), sample: content.get(row.sample_id)!, resumed: true };
    }
  }
}

function nameOf({ queue, labeler }: NextCall): string {
  return `${queue}/${labeler}`;
}
