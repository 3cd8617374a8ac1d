import type { Duration } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { causeOf, checkedLimit, checkedOptions } from "../base/options.ts";
import { checkedText } from "../base/text.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../kernel/kernel.ts";
import { decidedError, letterUnknown } from "../kernel/recovery/requeue.ts";
import type { CallOptions, StartCallOptions } from "../kernel/types/call-options.ts";
import type { Verbs } from "../kernel/verbs.ts";
import type { Operation } from "../operations/results.ts";
import { beginOperation, mostItems } from "../operations/run-operations.ts";
import type { DeadLetterView } from "../views/dead-letters.ts";
import { archiveOldest, type DeadLetterArchive, type RestoredLetters, restore } from "./archive.ts";
import { discardLetter, requeueLetter } from "./decide-letter.ts";
import { previewDecision } from "./letter-operations.ts";
import {
  ageOf,
  type DeadLetterFilter,
  type DeadLettersOptions,
  type DecideOptions,
  decideOptionsOf,
  filterOf,
  filterTextOf,
  idOf,
  type RequeueManyOptions,
  type RequeueOptions,
  type RestoreFilter,
  restoreOf,
} from "./options.ts";
import {
  type ArchivedFile,
  archivedOf,
  type DeadLetter,
  type DeadLetterGroup,
  type DecisionPreview,
  groupOf,
  letterOf,
  previewOf,
} from "./results.ts";
import type { LetterSettings } from "./settings.ts";
import { lettersMeant } from "./store/dead-letter-filter.ts";
import { Tickets } from "./tickets.ts";
import { readArchives } from "./views/archives.ts";
import { readDeadLetters, readLetterGroups, readLettersOfKind } from "./views/dead-letters.ts";

const callKeys = ["tx", "actor", "reason"];

/**
 * Dead letters: lists and groups them, decides about one or many, and manages tickets and archives.
 *
 * ```ts
 * const [group] = await pawl.deadLetters.groups();
 * await pawl.deadLetters.preview("requeue", { fingerprint: group.fingerprint }); // { letters: 812, outcomes: { requeued: 810, … } }
 * const { id } = await pawl.deadLetters.requeueMany({ fingerprint: group.fingerprint }, { actor: "ada", reason: "disk was full", rate: 50 });
 * await pawl.operations.run(id); // or leave it to the workers
 * ```
 */
export class DeadLetters {
  /** Tickets: dead letters that a person must handle. */
  readonly tickets: Tickets;
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #settings: LetterSettings;

  /** @internal */
  constructor(kernel: Kernel, verbs: Verbs, settings: LetterSettings) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#settings = settings;
    this.tickets = new Tickets(kernel);
  }

  /**
   * Lists work that failed permanently and waits for a person's decision, newest first; of all lifecycles by default.
   */
  async list(options: DeadLettersOptions = {}): Promise<DeadLetter[]> {
    refuseInside(this.#kernel, "deadLetters.list");
    const keys = ["lifecycle", "status", "fingerprint", "limit", "after"];
    const {
      lifecycle,
      status = "open",
      fingerprint,
      limit = 100,
      after,
    } = checkedOptions(options, keys, "deadLetters.list");
    const page = {
      lifecycle: lifecycle === undefined ? null : knownLifecycle(this.#kernel, lifecycle).name,
      beforeId: after === undefined ? null : idOf(after.id, "a dead letter"),
      limit: checkedLimit(limit),
    };
    if (fingerprint === undefined) return (await readDeadLetters(this.#kernel.db, { ...page, status })).map(letterOf);
    if (status !== "open")
      throw new PawlError(
        "option_invalid",
        "`fingerprint` only matches open dead letters. Leave out `status`, or set it to open.",
      );
    const kind = checkedText(fingerprint, "`fingerprint`");
    return (await readLettersOfKind(this.#kernel.db, { ...page, fingerprint: kind })).map(letterOf);
  }

  /** Returns a dead letter, decided or not; undefined if there is none. */
  async get(id: string): Promise<DeadLetter | undefined> {
    const letter = await this.#verbs.deadLetter(idOf(id, "a dead letter"));
    return letter === undefined ? undefined : letterOf(letter);
  }

  /**
   * Retries what failed, by the definition of this process: a failed instance recovers (or, with `restart`, starts
   * over), with changed data if given; an after-effect runs again, a message is sent again.
   *
   * ```ts
   * await pawl.deadLetters.requeue(letter.id, { data: { address: "Elm 3" }, actor: "ada", reason: "moved house" });
   * ```
   */
  async requeue(id: string, options: RequeueOptions = {}): Promise<DeadLetter> {
    const {
      data,
      restart = false,
      tx,
      ...by
    } = checkedOptions(options, ["data", "restart", ...callKeys], "deadLetters.requeue");
    return this.#verbs.inTurn(tx, async () => {
      const letter = await this.#openLetter(id, tx);
      await requeueLetter(this.#kernel, this.#verbs, { letter, data, restart, ...causeOf(by) }, tx);
      return letterOf((await this.#verbs.deadLetter(letter.id, tx))!);
    });
  }

  /** Discards a dead letter: nothing more happens about it. Its instance stays in its state. */
  async discard(id: string, options: StartCallOptions = {}): Promise<DeadLetter> {
    const { tx, ...by } = checkedOptions(options, callKeys, "deadLetters.discard");
    return this.#verbs.inTurn(tx, async () => {
      const letter = await this.#openLetter(id, tx);
      await discardLetter(this.#kernel, this.#verbs, letter, causeOf(by), tx);
      return letterOf((await this.#verbs.deadLetter(letter.id, tx))!);
    });
  }

  async #openLetter(given: string, tx: CallOptions["tx"]): Promise<DeadLetterView> {
    const id = idOf(given, "a dead letter");
    const letter = await this.#verbs.deadLetter(id, tx);
    if (letter === undefined) throw letterUnknown(id);
    if (letter.status !== "open") throw decidedError(id, letter.status);
    return letter;
  }

  /** Groups open dead letters by place and error, the largest group first. */
  async groups(filter: DeadLetterFilter = { all: true }, options: { limit?: number } = {}): Promise<DeadLetterGroup[]> {
    refuseInside(this.#kernel, "deadLetters.groups");
    const { limit = 100 } = checkedOptions(options, ["limit"], "deadLetters.groups");
    return (await readLetterGroups(this.#kernel.db, filterOf(filter), checkedLimit(limit))).map(groupOf);
  }

  /** Returns what a decision about these letters would do at present. Changes nothing. */
  async preview(
    decision: "requeue" | "discard",
    filter: DeadLetterFilter,
    options: { restart?: boolean } = {},
  ): Promise<DecisionPreview> {
    refuseInside(this.#kernel, "deadLetters.preview");
    if (decision !== "requeue" && decision !== "discard")
      throw new PawlError("option_invalid", "`preview` takes requeue or discard.");
    const { restart = false } = checkedOptions(options, ["restart"], "deadLetters.preview");
    return previewOf(await previewDecision(this.#kernel, filterOf(filter), { decision, restart }));
  }

  /**
   * Requeues these letters, each on its own. The current letters are stored as an operation, which any worker process
   * carries out, even if this one ends. `pawl.operations.run` does so in this process.
   */
  async requeueMany(filter: DeadLetterFilter, options: RequeueManyOptions = {}): Promise<Operation> {
    return this.#begin("requeue", filter, decideOptionsOf(options, "requeue"));
  }

  /** Discards these letters; carried out like a requeue. */
  async discardMany(filter: DeadLetterFilter, options: DecideOptions = {}): Promise<Operation> {
    return this.#begin("discard", filter, decideOptionsOf(options, "discard"));
  }

  async #begin(
    decision: "requeue" | "discard",
    filter: DeadLetterFilter,
    options: ReturnType<typeof decideOptionsOf>,
  ): Promise<Operation> {
    refuseInside(this.#kernel, `deadLetters.${decision}Many`);
    const which = filterOf(filter);
    const operation = { subject: "dead_letters", decision, ...options, filterText: filterTextOf(filter) } as const;
    return beginOperation(this.#kernel, { ...operation, settingsText: null }, lettersMeant(which, mostItems));
  }

  /**
   * Archives letters older than `olderThan` now, oldest first. Each file is durable before its letters are deleted.
   * @default the retention of the config
   */
  async archive(options: { olderThan?: Duration } = {}): Promise<{ letters: number; files: number }> {
    refuseInside(this.#kernel, "deadLetters.archive");
    const { olderThan } = checkedOptions(options, ["olderThan"], "deadLetters.archive");
    const olderThanMs = olderThan === undefined ? this.#settings.retentionMs : ageOf(olderThan);
    if (olderThanMs === null) throw new PawlError("option_invalid", 'Set the minimum age: { olderThan: "7d" }.');
    const archive = this.#archive();
    for (const sum = { letters: 0, files: 0 }; ; ) {
      const letters = await archiveOldest(this.#kernel, archive, { olderThanMs, limit: 1_000 });
      if (letters === 0) return sum;
      sum.letters += letters;
      sum.files += 1;
    }
  }

  /** The files that were archived, the newest first. */
  async archives(options: { limit?: number } = {}): Promise<ArchivedFile[]> {
    refuseInside(this.#kernel, "deadLetters.archives");
    const { limit = 100 } = checkedOptions(options, ["limit"], "deadLetters.archives");
    return (await readArchives(this.#kernel.db, checkedLimit(limit))).map(archivedOf);
  }

  /** Restores letters from the archive, unchanged: some, those of files, or all. Idempotent. */
  async restore(which: RestoreFilter): Promise<RestoredLetters & { readonly files: number }> {
    refuseInside(this.#kernel, "deadLetters.restore");
    return restore(this.#kernel, this.#archive(), restoreOf(which));
  }

  #archive(): DeadLetterArchive {
    const { archive } = this.#settings;
    if (archive !== undefined) return archive;
    const remedy = "Configure one: createPawl({ deadLetters: { archive: folderArchive(…) } }).";
    throw new PawlError("option_invalid", `No archive for dead letters is configured. ${remedy}`);
  }
}
