import type { Duration } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { checkedText } from "../base/text.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { pause } from "../kernel/pause.ts";
import type { Verbs } from "../kernel/verbs.ts";
import { readLetterGroups } from "../views/dead-letters.ts";
import { archivedFiles, archiveOldest, type DeadLetterArchive, type RestoredLetters, restore } from "./archive.ts";
import {
  ageOf,
  checkedKeys,
  type DeadLetterFilter,
  type DecideOptions,
  decideOptionsOf,
  filterOf,
  filterTextOf,
  idOf,
  limitOf,
  type RequeueManyOptions,
  type RestoreFilter,
  restoreOf,
  textOrNull,
} from "./given.ts";
import { abort, beginOperation, carryOn, foresee } from "./operations.ts";
import type { LetterSettings } from "./settings.ts";
import {
  type ArchivedFile,
  archivedOf,
  type DeadLetterGroup,
  type DecisionPreview,
  groupOf,
  type Operation,
  operationOf,
  previewOf,
  type Ticket,
  ticketOf,
} from "./shown.ts";
import { resolveTicket, takeTicket } from "./tickets.ts";
import { type OperationView, readOperation, readOperations } from "./views/operations.ts";
import { readTickets } from "./views/tickets.ts";

export interface TicketsOptions {
  /** Those that nobody looks after unless given. */
  readonly status?: Ticket["status"];
  /** Only those that this person has taken. */
  readonly takenBy?: string;
  readonly limit?: number;
  /** Go on after the last one of the page before. */
  readonly after?: { readonly id: string };
}

const firstId = "00000000-0000-0000-0000-000000000000";
const lookAgainMs = 100;

/**
 * Dead letters in numbers: what they have in common, decisions about many, who looks after them, archives. What one of them
 * says, and a decision about it alone, are `pawl.deadLetter`, `pawl.requeue` and `pawl.discard`.
 *
 * ```ts
 * const [group] = await pawl.dead.groups();
 * await pawl.dead.preview("requeue", { fingerprint: group.fingerprint }); // { letters: 812, outcomes: { requeued: 810, … } }
 * const { id } = await pawl.dead.requeue({ fingerprint: group.fingerprint }, { actor: "ada", reason: "disk was full", rate: 50 });
 * await pawl.dead.finish(id); // or leave it to the workers
 * ```
 */
export class Dead {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #settings: LetterSettings;

  /** @internal */
  constructor(kernel: Kernel, verbs: Verbs, settings: LetterSettings) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#settings = settings;
  }

  /** Open dead letters by what they have in common, the largest group first. */
  async groups(filter: DeadLetterFilter = { all: true }, options: { limit?: number } = {}): Promise<DeadLetterGroup[]> {
    refuseInside(this.#kernel, "dead.groups");
    const { limit = 100 } = checkedKeys(options, ["limit"], "options of groups");
    return (await readLetterGroups(this.#kernel.db, filterOf(filter), limitOf(limit))).map(groupOf);
  }

  /** What a decision about these letters would come to, as things are. Nothing is changed. */
  async preview(
    decision: Operation["decision"],
    filter: DeadLetterFilter,
    options: { restart?: boolean } = {},
  ): Promise<DecisionPreview> {
    refuseInside(this.#kernel, "dead.preview");
    if (decision !== "requeue" && decision !== "discard")
      throw new PawlError("option_invalid", "A preview is one of `requeue` or `discard`.");
    const { restart = false } = checkedKeys(options, ["restart"], "options of preview");
    return previewOf(await foresee(this.#kernel, filterOf(filter), { decision, restart }));
  }

  /**
   * Takes up again what these letters are about, each for itself. The letters that there are now are written down as an
   * operation; whichever process works carries it out, also when this one is gone. `finish` does so here.
   */
  async requeue(filter: DeadLetterFilter, options: RequeueManyOptions = {}): Promise<Operation> {
    return this.#begin("requeue", filter, decideOptionsOf(options, "requeue"));
  }

  /** Nothing more is to be done about these letters; carried out as a requeue is. */
  async discard(filter: DeadLetterFilter, options: DecideOptions = {}): Promise<Operation> {
    return this.#begin("discard", filter, decideOptionsOf(options, "discard"));
  }

  async #begin(
    decision: Operation["decision"],
    filter: DeadLetterFilter,
    options: ReturnType<typeof decideOptionsOf>,
  ): Promise<Operation> {
    refuseInside(this.#kernel, `dead.${decision}`);
    const which = filterOf(filter);
    const id = await beginOperation(this.#kernel, { decision, ...options, filterText: filterTextOf(filter) }, which);
    return this.#operation(id);
  }

  /** How far an operation is, and what became of its letters so far. */
  async operation(id: string): Promise<Operation> {
    refuseInside(this.#kernel, "dead.operation");
    return this.#operation(idOf(id, "an operation"));
  }

  async #operation(id: string): Promise<Operation> {
    return operationOf(await this.#known(id));
  }

  async #known(id: string): Promise<OperationView> {
    const found = await readOperation(this.#kernel.db, id);
    if (found !== undefined) return found;
    throw new PawlError("operation_unknown", `There is no operation with the id ${id}.`, { operation: id });
  }

  /** Operations, the newest first; those that ended are kept for a month. */
  async operations(options: { limit?: number } = {}): Promise<Operation[]> {
    refuseInside(this.#kernel, "dead.operations");
    const { limit = 20 } = checkedKeys(options, ["limit"], "options of operations");
    return (await readOperations(this.#kernel.db, limitOf(limit))).map(operationOf);
  }

  /** Does the next batch of an operation in this process, if its pace allows it now; tells how far it is then. */
  async carryOn(id: string): Promise<Operation> {
    refuseInside(this.#kernel, "dead.carryOn");
    const operation = idOf(id, "an operation");
    await carryOn(this.#kernel, this.#verbs, operation);
    return this.#operation(operation);
  }

  /** Carries an operation out in this process, together with whoever else does, until it has ended. */
  async finish(
    id: string,
    options: { onProgress?: (operation: Operation) => void; signal?: AbortSignal } = {},
  ): Promise<Operation> {
    const { onProgress, signal } = checkedKeys(options, ["onProgress", "signal"], "options of finish");
    for (let done = -1; ; ) {
      const operation = await this.carryOn(id);
      onProgress?.(operation);
      if (operation.status !== "running" || signal?.aborted === true) return operation;
      if (operation.done === done) await pause(lookAgainMs);
      done = operation.done;
    }
  }

  /** Begins nothing more of an operation. What it has done stays done. */
  async abort(id: string, options: { actor?: string; reason?: string } = {}): Promise<Operation> {
    refuseInside(this.#kernel, "dead.abort");
    const { actor, reason } = checkedKeys(options, ["actor", "reason"], "options of abort");
    const operation = idOf(id, "an operation");
    const by = { actor: textOrNull(actor, "The actor"), reason: textOrNull(reason, "The reason") };
    const isAborted = await abort(this.#kernel, operation, by);
    const { status, ...found } = await this.#operation(operation);
    if (isAborted) return { status, ...found };
    const how = status === "done" ? "done" : "aborted";
    throw new PawlError("operation_ended", `Operation ${operation} was ${how} already.`, { operation, status });
  }

  /** Dead letters that want somebody, the oldest first. */
  async tickets(options: TicketsOptions = {}): Promise<Ticket[]> {
    refuseInside(this.#kernel, "dead.tickets");
    const keys = ["status", "takenBy", "limit", "after"];
    const { status = "open", takenBy, limit = 100, after } = checkedKeys(options, keys, "options of tickets");
    if (!["open", "taken", "resolved"].includes(status))
      throw new PawlError("option_invalid", "`status` must be open, taken or resolved.");
    const rows = await readTickets(this.#kernel.db, {
      status,
      takenBy: textOrNull(takenBy, "`takenBy`"),
      limit: limitOf(limit),
      afterId: after === undefined ? firstId : idOf(after.id, "a ticket"),
    });
    return rows.map(ticketOf);
  }

  /** Somebody looks after a ticket. One that another has taken is refused. */
  async take(id: string, options: { actor: string }): Promise<Ticket> {
    refuseInside(this.#kernel, "dead.take");
    const { actor } = checkedKeys(options, ["actor"], "options of take");
    return ticketOf(await takeTicket(this.#kernel, idOf(id, "a ticket"), checkedText(actor, "The actor")));
  }

  /** Nothing is left to be looked at; the dead letter itself stays as it is. A decision about it resolves its ticket, too. */
  async resolve(id: string, options: { actor: string; reason: string }): Promise<Ticket> {
    refuseInside(this.#kernel, "dead.resolve");
    const { actor, reason } = checkedKeys(options, ["actor", "reason"], "options of resolve");
    const by = { actor: checkedText(actor, "The actor"), reason: checkedText(reason, "The reason") };
    return ticketOf(await resolveTicket(this.#kernel, idOf(id, "a ticket"), by));
  }

  /**
   * Archives at once what is older than `olderThan` (as the config keeps them unless given), the oldest first. Each file is
   * safe in the archive before what is in it is removed.
   */
  async archive(options: { olderThan?: Duration } = {}): Promise<{ letters: number; files: number }> {
    refuseInside(this.#kernel, "dead.archive");
    const { olderThan } = checkedKeys(options, ["olderThan"], "options of archive");
    const olderThanMs = olderThan === undefined ? this.#settings.keepMs : ageOf(olderThan);
    if (olderThanMs === null) throw new PawlError("option_invalid", 'Say from which age on: { olderThan: "7d" }.');
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
    refuseInside(this.#kernel, "dead.archives");
    const { limit = 100 } = checkedKeys(options, ["limit"], "options of archives");
    return (await archivedFiles(this.#kernel, limitOf(limit))).map(archivedOf);
  }

  /** Brings letters back from the archive as they were: some, those of files, or all. Said twice it changes nothing. */
  async restore(which: RestoreFilter): Promise<RestoredLetters & { readonly files: number }> {
    refuseInside(this.#kernel, "dead.restore");
    return restore(this.#kernel, this.#archive(), restoreOf(which));
  }

  #archive(): DeadLetterArchive {
    const { archive } = this.#settings;
    if (archive !== undefined) return archive;
    const remedy = "Name one: createPawl({ deadLetters: { archive: folderArchive(…) } }).";
    throw new PawlError("option_invalid", `This Pawl has no archive for dead letters. ${remedy}`);
  }
}
