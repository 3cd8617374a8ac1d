import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { DeskQueueResponse, DeskResponse, DeskWorkResponse } from "../../../src/http/contract.ts";
import { messageOf, Refused } from "../api.ts";
import { showToast } from "../parts/toast.tsx";
import { session } from "../session.ts";
import { DeskApi } from "./api.ts";
import { Drafts } from "./form/drafts.ts";
import { type Field, readField } from "./form/fields.ts";
import { beginning, type Fault, type FormValue, labelOf, type Path, put } from "./form/form-values.ts";
import { type FoundWork, NextAssignment } from "./next-assignment.ts";
import { Timing } from "./timing.ts";

export type Given = Pick<DeskWorkResponse, "assignment" | "sample" | "revises">;

/**
 * `empty`: there is no sample. `lost`: the assignment is no longer open. `closed`: the queue is not for this labeler.
 */
export type Phase = "loading" | "working" | "sending" | "empty" | "lost" | "closed";

const lookEveryMs = 15_000;
const lookWhileEmptyMs = 4_000;

/** The work of one labeler in one queue: gets the next assignment, stores drafts, submits labels. */
export class Labeling {
  readonly phase = signal<Phase>("loading");
  readonly desk = signal<DeskResponse | undefined>(undefined);
  readonly given = signal<Given | undefined>(undefined);
  readonly entered = signal<FormValue>(undefined);
  readonly faults = signal<readonly Fault[]>([]);
  /** The last error, as text. */
  readonly trouble = signal<string | undefined>(undefined);
  /** Why there is nothing to do. */
  readonly why = signal<string | undefined>(undefined);
  /** The time until the deadline, and the status of a lost assignment. */
  readonly leftMs = signal<number | undefined>(undefined);
  readonly lostAs = signal<string | undefined>(undefined);
  readonly drafts: Drafts;
  readonly queue: ReadonlySignal<DeskQueueResponse | undefined>;
  readonly form: ReadonlySignal<Field>;
  readonly #api: DeskApi;
  readonly #finding: NextAssignment;
  readonly #timing = new Timing();
  #lookedAt = 0;
  #isLooking = false;
  #isBeginning = false;

  constructor(queue: string, labeler: string) {
    this.#api = new DeskApi(labeler);
    this.#finding = new NextAssignment(this.#api, queue);
    this.queue = computed(() => this.desk.value?.queues.find(({ name }) => name === queue));
    // Read again only if the schema changed: the desk is polled every few seconds.
    const schemaText = computed(() => JSON.stringify(this.queue.value?.labelSchema ?? {}));
    this.form = computed(() => readField(JSON.parse(schemaText.value)));
    this.drafts = new Drafts((entered, leaving) =>
      this.given.value === undefined
        ? Promise.resolve()
        : this.#api.saveDraft(this.given.value.assignment.id, entered, leaving),
    );
  }

  /** Continues an open assignment, or starts the next one. */
  async begin(): Promise<void> {
    this.phase.value = "loading";
    this.#isBeginning = true;
    await this.#guarded(async () => {
      if (this.desk.value === undefined) await this.#readDesk();
      for (let tries = 0; tries < 5; tries++) {
        if (this.queue.value === undefined) return this.#showNothing("closed");
        const found = await this.#finding.find(this.queue.value.assignments);
        if (found !== undefined) return "why" in found ? this.#showNothing("empty", found.why) : this.#show(found);
        await this.#readDesk();
      }
    });
    this.#isBeginning = false;
  }

  set(path: Path, value: FormValue): void {
    this.setAll(put(this.entered.value, path, value));
  }

  setAll(entered: FormValue): void {
    this.entered.value = entered;
    if (this.phase.value !== "working") return;
    this.drafts.changed(entered);
    this.#finding.fetchAhead(this.given.value!.assignment.id, this.queue.value?.concurrency ?? 1);
  }

  async submit(): Promise<void> {
    const { given, phase } = this;
    if (given.value === undefined || (phase.value !== "working" && phase.value !== "lost")) return;
    const { label, faults } = labelOf(this.form.value, this.entered.value);
    this.faults.value = faults;
    if (faults.length > 0) return;
    const before = phase.value;
    phase.value = "sending";
    const { id } = given.value.assignment;
    await this.#guarded(async () => {
      await this.drafts.hold();
      const { late } = await this.#api.submit(id, label);
      if (late) showToast("The label arrived after the deadline. It is kept, and used if a lead accepts it.");
      await this.#goOn();
    });
    if (phase.value !== "sending") return;
    phase.value = before;
    this.drafts.resume();
  }

  /** Throws if it fails: the dialog that asked for a reason shows the error. */
  async skip(reason: string | undefined): Promise<void> {
    if (this.given.value === undefined) return;
    await this.drafts.hold();
    try {
      await this.#api.skip(this.given.value.assignment.id, reason);
    } catch (error) {
      this.drafts.resume();
      throw error;
    }
    void this.#guarded(() => this.#goOn());
  }

  /** Closes the lost assignment. */
  goOn(): Promise<void> {
    return this.#guarded(() => this.#goOn());
  }

  /** Its time begins again. */
  async extend(): Promise<void> {
    const { given } = this;
    if (given.value === undefined || this.phase.value !== "working") return;
    this.#timing.extended();
    await this.#guarded(async () => {
      const assignment = await this.#api.extend(given.value!.assignment.id);
      if (assignment.id === given.value?.assignment.id) given.value = { ...given.value, assignment };
    });
    this.tick();
  }

  /** The labeler is present: a key was pressed, or the page touched. */
  touch(): void {
    this.#timing.touch();
  }

  /** Every second: updates the remaining time, and acts on it. */
  tick(): void {
    const deadline = this.given.value?.assignment.deadlineAt ?? null;
    const { leftMs, queue, phase } = this;
    leftMs.value = deadline === null ? undefined : this.#timing.left(deadline);
    if (phase.value === "working" && leftMs.value !== undefined && queue.value !== undefined) {
      const due = this.#timing.due(leftMs.value, queue.value);
      if (due === "extend") void this.extend();
      else if (due === "look") void this.look();
    }
    const everyMs = phase.value === "empty" ? lookWhileEmptyMs : lookEveryMs;
    if (document.visibilityState === "visible" && Date.now() - this.#lookedAt > everyMs) void this.look();
  }

  /** Reads the desk again, and checks that the assignment is still open. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    await this.#guarded(async () => {
      await this.#readDesk();
      this.trouble.value = undefined;
      const { given, phase, queue } = this;
      const id = given.value?.assignment.id;
      const isHeld = queue.value?.assignments.some((one) => one.id === id) ?? false;
      if (phase.value === "working" && id !== undefined && !isHeld) await this.#check(id);
      else if (this.#shouldBegin()) {
        await this.begin();
        await this.#readDesk();
      }
    });
    this.#isLooking = false;
    this.tick();
  }

  /** The page is left, or hidden. */
  leave(): void {
    if (this.phase.value === "working") void this.drafts.write(true);
  }

  /** A new sample came while the labeler is present; or the last request failed. */
  #shouldBegin(): boolean {
    if (this.phase.value !== "empty") return this.phase.value === "loading" && !this.#isBeginning;
    const { waiting = 0, waitsMore = false, assignments = [] } = this.queue.value ?? {};
    return this.#timing.isPresent && (waiting > 0 || waitsMore || assignments.length > 0);
  }

  #show({ assignment, sample, revises, draft }: Exclude<FoundWork, { readonly why: string }>): void {
    this.entered.value = beginning(this.form.value, draft, revises);
    this.drafts.reset(draft !== null);
    this.faults.value = [];
    this.trouble.value = undefined;
    this.lostAs.value = undefined;
    this.#timing.extended();
    this.given.value = { assignment, sample, revises };
    this.phase.value = "working";
    this.tick();
  }

  #showNothing(phase: "empty" | "closed", why?: string): void {
    this.given.value = undefined;
    this.why.value = why;
    this.phase.value = phase;
  }

  async #check(id: string): Promise<void> {
    const { assignment } = await this.#api.work(id);
    if (this.given.value?.assignment.id !== id || this.phase.value === "loading") return;
    if (assignment.status === "in_progress") {
      this.given.value = { ...this.given.value, assignment };
      return;
    }
    await this.drafts.hold();
    this.lostAs.value = assignment.status;
    this.phase.value = "lost";
  }

  async #goOn(): Promise<void> {
    if (this.given.value !== undefined) this.#finding.end(this.given.value.assignment.id);
    await this.begin();
    void this.look();
  }

  async #readDesk(): Promise<void> {
    this.#lookedAt = Date.now();
    const desk = await this.#api.desk();
    this.#timing.setServerTime(desk.now);
    this.desk.value = desk;
  }

  /** Runs an action, and shows its error. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const problem = error instanceof Refused ? error.problem : undefined;
      if (problem?.status === 401) session.value = null;
      else if (problem?.faults !== undefined) this.faults.value = problem.faults;
      else if (problem?.code === "invalid_transition" && this.given.value !== undefined) await this.#lose();
      else this.trouble.value = messageOf(error);
    }
  }

  /** It was refused because of the state of the assignment. */
  async #lose(): Promise<void> {
    this.phase.value = "working";
    await this.#guarded(() => this.#check(this.given.value!.assignment.id));
  }
}
