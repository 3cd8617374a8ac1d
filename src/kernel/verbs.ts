import { messageOf, PawlError } from "../base/errors.ts";
import { type AllowedEvent, allowedEvents } from "../definition/decide/allowed-events.ts";
import { decideRename } from "../definition/decide/decide.ts";
import type { LifecycleModel } from "../definition/model.ts";
import { acceptLate } from "../definition/model.ts";
import { type InstanceRow, readInstances, readInstancesByKey } from "../store/move/instances.ts";
import { payloadIn } from "../store/move/payloads.ts";
import type { Executor, Tx } from "../store/port/db.ts";
import { adoptTx, forUser, inTurnOn, withinSavepoint } from "../store/port/foreign-tx.ts";
import { type Decider, markDiscarded } from "../store/recovery/dead-letters.ts";
import { type CallbackView, readCallback } from "../views/callbacks.ts";
import { type DeadLetterView, readDeadLetter } from "../views/dead-letters.ts";
import { Batcher } from "./batcher.ts";
import { type PlannedCallback, type ReceiveOutcome, receiveAll, receiveIn } from "./callbacks/receive.ts";
import { modelOf } from "./commit/rows.ts";
import { inTransaction, type Kernel, lifecycleOf, refuseInside } from "./kernel.ts";
import { sendAll, sendAllIn, sendIn } from "./move/send.ts";
import { planStart, planStarts, startAll } from "./move/start.ts";
import { decidedError, type Requeue, requeueSend, requeueTask } from "./recovery/requeue.ts";
import type { Ref } from "./refs.ts";
import { settleWithin } from "./time-limit.ts";
import type { Send, Sent } from "./types/send.ts";
import type { PlannedStart, Start, Started } from "./types/start.ts";

const batchSize = 500;
/** All other calls wait for an embedded transaction. A server ends one that idles for as long by itself. */
const embeddedLimitMs = 60_000;
/** New instances cannot conflict: the larger the batch, the cheaper. */
const startBatchSize = 2_000;

/** The kernel's verbs as calls: gathered into group commits, or carried out inside the caller's own transaction. */
export class Verbs {
  readonly #kernel: Kernel;
  readonly #sends: Batcher<Send, Sent>;
  readonly #starts: Batcher<PlannedStart, Started>;
  readonly #arrivals: Batcher<PlannedCallback, ReceiveOutcome>;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    // Two at once keep database and process busy at the same time; more would only conflict with each other.
    this.#sends = new Batcher((batch) => sendAll(kernel, batch), { maxBatch: batchSize, concurrency: 2 });
    this.#starts = new Batcher((batch) => startAll(kernel, kernel.db, batch), { maxBatch: batchSize, concurrency: 2 });
    this.#arrivals = new Batcher((batch) => receiveAll(kernel, batch), { maxBatch: batchSize, concurrency: 2 });
  }

  start(start: Start, tx: unknown): Promise<Started> {
    const planned = planStart(this.#kernel, start);
    if (tx !== undefined)
      return this.#inTransaction(tx, async (own) => (await startAll(this.#kernel, own, [planned]))[0]!);
    refuseInside(this.#kernel, "start");
    return this.#starts.add(planned);
  }

  async startMany(starts: readonly Start[], tx: unknown): Promise<Started[]> {
    const kernel = this.#kernel;
    const planned = planStarts(kernel, starts);
    if (tx !== undefined)
      return this.#inTransaction(tx, (own) =>
        inBatches(planned, startBatchSize, (batch) => startAll(kernel, own, batch)),
      );
    refuseInside(kernel, "startMany");
    const keys = new Set(starts.map((start) => start.key));
    const inTurn = keys.size === starts.length || (keys.size === 1 && keys.has(null)) ? twoAtOnce : inBatches;
    let isBegun = false;
    try {
      return await inTurn(planned, startBatchSize, async (batch) => {
        const started = await startAll(kernel, kernel.db, batch);
        isBegun = true;
        return started;
      });
    } catch (error) {
      throw isBegun ? partlyStarted(error) : error;
    }
  }

  send(send: Send, tx: unknown): Promise<Sent> {
    if (tx !== undefined) return sendIn(this.#kernel, adoptTx(tx), send);
    refuseInside(this.#kernel, "send");
    return this.#sends.add(send);
  }

  receive(arrival: PlannedCallback, tx: unknown): Promise<ReceiveOutcome> {
    if (tx !== undefined) return this.#inTransaction(tx, (own) => receiveIn(this.#kernel, own, arrival));
    refuseInside(this.#kernel, "receive");
    return this.#arrivals.add(arrival);
  }

  async callback(id: string, tx?: unknown): Promise<CallbackView | undefined> {
    return readCallback(this.reading("callback", tx), id);
  }

  /**
   * Accepts a late result, or one that no state has accepted. The callback is settled by the move itself, and its id is
   * the move's mark.
   */
  async acceptLate(callback: CallbackView, { actor, reason }: Decider, tx: unknown): Promise<Sent> {
    const kernel = this.#kernel;
    const lifecycle = kernel.lifecycles.get(callback.lifecycle);
    if (lifecycle === undefined) {
      const message = `Callback ${callback.id} is about \`${callback.lifecycle}\`, which this process does not declare. Add it to \`lifecycles\`.`;
      throw new PawlError("lifecycle_unknown", message, { lifecycle: callback.lifecycle });
    }
    const { id, event, patch, instance_id, status } = callback;
    return this.send(
      {
        lifecycle,
        ref: { id: instance_id },
        event: acceptLate,
        late: { callbackId: id, event, wasWaiting: status === "waiting" },
        payload: payloadIn(callback),
        patch: patch ?? undefined,
        actor,
        reason,
        expectedVersion: undefined,
        idempotency: undefined,
        delay: undefined,
        requestId: id,
      },
      tx,
    );
  }

  async sendMany(sends: readonly Send[], tx: unknown): Promise<Sent[]> {
    const kernel = this.#kernel;
    if (tx !== undefined)
      return this.#inTransaction(tx, (own) => inBatches(sends, batchSize, (batch) => sendAllIn(kernel, own, batch)));
    refuseInside(kernel, "sendMany");
    const inTurn = areApart(sends) ? twoAtOnce : inBatches;
    return inTurn(sends, batchSize, (batch) => sendAll(kernel, batch));
  }

  /** The transaction of a read: the caller's own, if there is one. */
  reading(verb: string, tx: unknown): Executor {
    if (tx !== undefined) return adoptTx(tx);
    refuseInside(this.#kernel, verb);
    return this.#kernel.db;
  }

  async read(lifecycle: LifecycleModel, ref: Ref, tx: unknown): Promise<InstanceRow | undefined> {
    const db = this.reading("get", tx);
    const [row] =
      "id" in ref
        ? await readInstances(db, [ref.id])
        : await readInstancesByKey(db, [{ lifecycle: lifecycle.name, key: ref.key }]);
    return row?.lifecycle === lifecycle.name ? row : undefined;
  }

  /** The name of the lifecycle of an instance. */
  async lifecycleOf(ref: Ref): Promise<string | undefined> {
    refuseInside(this.#kernel, "lifecycleOf");
    const [row] = "id" in ref ? await readInstances(this.#kernel.db, [ref.id]) : [];
    return row?.lifecycle;
  }

  async deadLetter(id: string, tx?: unknown): Promise<DeadLetterView | undefined> {
    if (tx === undefined) refuseInside(this.#kernel, "deadLetter");
    return readDeadLetter(tx === undefined ? this.#kernel.db : adoptTx(tx), id);
  }

  /** Retries the subject of a dead letter. The letter is decided by the move itself, or with the task. */
  async requeue(requeue: Requeue, tx: unknown): Promise<void> {
    const kernel = this.#kernel;
    if (tx === undefined) refuseInside(kernel, "requeue");
    if (requeue.letter.kind === "effect") return this.writing("requeue", tx, (db) => requeueTask(kernel, db, requeue));
    const db: Executor = tx === undefined ? kernel.db : adoptTx(tx);
    const sent = await this.send(await requeueSend(kernel, db, requeue), tx);
    if (!sent.ok) throw sent.error;
  }

  async discardLetter(letter: DeadLetterView, by: Decider, tx: unknown): Promise<void> {
    const isDone = await this.writing("discard", tx, (db) => markDiscarded(db, letter.id, by));
    if (!isDone) throw decidedError(letter.id);
  }

  allowedEvents(row: InstanceRow, actor: string | null): AllowedEvent[] {
    const lifecycle = lifecycleOf(this.#kernel, row);
    const instance = decideRename(lifecycle, modelOf(row), row.now_ms)?.instance ?? modelOf(row);
    return allowedEvents(lifecycle, instance, actor, row.now_ms);
  }

  /** Owns the commit. On one connection, a call without its `tx` would wait for itself, and is refused. */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const kernel = this.#kernel;
    refuseInside(kernel, "transaction");
    return inTransaction(kernel, (tx) =>
      kernel.db.kind === "pglite"
        ? kernel.inside.run("an embedded transaction", () =>
            settleWithin(embeddedLimitMs, "An embedded transaction", () => work(forUser(tx))),
          )
        : work(forUser(tx)),
    );
  }

  /** Runs a whole call, its checks included, when the earlier calls on the caller's own transaction have ended. */
  inTurn<T>(tx: unknown, call: () => Promise<T>): Promise<T> {
    return tx === undefined ? call() : inTurnOn(tx, call);
  }

  /** Writes on the database itself, or inside the caller's own transaction. */
  writing<T>(verb: string, tx: unknown, work: (db: Executor) => Promise<T>): Promise<T> {
    if (tx !== undefined) return this.#inTransaction(tx, work);
    refuseInside(this.#kernel, verb);
    return work(this.#kernel.db);
  }

  #inTransaction<T>(tx: unknown, work: (own: Tx) => Promise<T>): Promise<T> {
    const own = adoptTx(tx);
    return withinSavepoint(own, () => work(own));
  }
}

/** In batches, one after the other: within one transaction, or where the order between batches matters. */
async function inBatches<Asked, Answer>(
  list: readonly Asked[],
  most: number,
  run: (batch: Asked[]) => Promise<Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < list.length; from += most) answers.push(...(await run(list.slice(from, from + most))));
  return answers;
}

/** In half batches, two at a time, so that database and process are both busy. For lists without an order. */
async function twoAtOnce<Asked, Answer>(
  list: readonly Asked[],
  most: number,
  run: (batch: Asked[]) => Promise<Answer[]>,
): Promise<Answer[]> {
  const size = Math.max(1, Math.min(most / 2, Math.ceil(list.length / 2)));
  const batches = Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
  const answers: Answer[][] = [];
  let next = 0;
  const runner = async (): Promise<void> => {
    try {
      for (let index = next++; index < batches.length; index = next++) answers[index] = await run(batches[index]!);
    } finally {
      next = batches.length; // After a failure nothing more is begun.
    }
  };
  // The other one has ended, too, before an error is thrown: its results are part of the answer.
  for (const one of await Promise.allSettled([runner(), runner()])) if (one.status === "rejected") throw one.reason;
  return answers.flat();
}

/** The database was lost between two batches: neither "started" nor "not started" would be true of all. */
function partlyStarted(cause: unknown): PawlError {
  return new PawlError(
    "outcome_unknown",
    `Some of these were started, and then: ${messageOf(cause)} With keys, the call can simply be repeated.`,
    {},
    { cause },
  );
}

/** Whether no two of these can be about the same instance: then their order does not matter. */
function areApart(sends: readonly Send[]): boolean {
  const named = new Set(sends.map(({ ref }) => ("id" in ref ? ref.id : ref.key)));
  return named.size === sends.length && sends.every(({ ref }) => "id" in ref === "id" in sends[0]!.ref);
}
