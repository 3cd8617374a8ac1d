import { PawlError } from "../base/errors.ts";
import { storableText } from "../base/json.ts";
import { type AnyQueue, type QueueDefinition, queue } from "../definition/queue.ts";
import type { QueueSettings } from "../definition/queue-settings.ts";
import { isSchema } from "../definition/read/read.ts";
import type { JsonSchema } from "../definition/schema/json-schema.ts";
import { Batcher } from "../kernel/batcher.ts";
import type { Executor } from "../store/port/db.ts";
import { queueUnknown } from "./refusals.ts";
import {
  insertQueue,
  markQueue,
  type NewQueue,
  putQueue,
  type QueueRow,
  readAllQueues,
  readQueues,
} from "./store/queues.ts";

/** A queue. */
export interface QueueInfo extends QueueSettings {
  readonly name: string;
  /** An inactive queue makes no new assignments; open ones can be finished. */
  readonly active: boolean;
  /** Declared in code, or created at run time. */
  readonly source: "code" | "run_time";
  /** The JSON Schema of a label. */
  readonly labelSchema: JsonSchema;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A queue to create at run time: the options of `queue()`, with a JSON Schema for its labels. */
export type RunTimeQueue = QueueDefinition<JsonSchema>;

/** The queues of this process, and all stored queues. */
export class Queues {
  readonly #declared: ReadonlyMap<string, AnyQueue>;
  readonly #rows: Batcher<string, QueueRow | undefined>;
  readonly #made = new Map<string, { readonly from: string; readonly queue: AnyQueue }>();

  constructor(db: Executor, declared: readonly AnyQueue[]) {
    this.#declared = new Map(declared.map((one) => [one.name, one]));
    this.#rows = new Batcher((names) => readInTurn(db, names), { maxBatch: 500, concurrency: 2 });
  }

  get declared(): readonly AnyQueue[] {
    return [...this.#declared.values()];
  }

  /** Stores the queues declared in code. Safe if many processes start at once. */
  async store(db: Executor): Promise<void> {
    for (const one of this.declared) await putQueue(db, storedOf(one, "code"));
  }

  async create(db: Executor, name: string, definition: RunTimeQueue): Promise<QueueInfo> {
    const made = queue(name, definition);
    refuseCodeSchema(made);
    if (!(await insertQueue(db, storedOf(made, "run_time")))) {
      throw new PawlError(
        "queue_exists",
        `Queue \`${name}\` already exists. Change it with pawl.people.updateQueue(), or choose another name.`,
        { queue: name },
      );
    }
    return this.get(db, name);
  }

  /** Changes settings, for later assignments and samples. */
  async update(db: Executor, name: string, changes: Partial<RunTimeQueue>): Promise<QueueInfo> {
    const [row] = await readQueues(db, [name]);
    if (row === undefined) throw queueUnknown(name);
    if (row.source === "code" || this.#declared.has(name)) {
      throw new PawlError(
        "not_allowed",
        `Queue \`${name}\` is declared in code; change it there. Only \`active\` can be changed at run time.`,
        { queue: name },
      );
    }
    const made = queue(name, { ...definitionOf(row), ...changes } as RunTimeQueue);
    refuseCodeSchema(made);
    await putQueue(db, storedOf(made, "run_time"));
    return this.get(db, name);
  }

  async setActive(db: Executor, name: string, active: boolean): Promise<QueueInfo> {
    if (!(await markQueue(db, name, active))) throw queueUnknown(name);
    return this.get(db, name);
  }

  async get(db: Executor, name: string): Promise<QueueInfo> {
    const [row] = await readQueues(db, [name]);
    if (row === undefined) throw queueUnknown(name);
    return shownOf(row);
  }

  /** Returns the current settings of a queue. */
  async settings(db: Executor, name: string): Promise<QueueSettings> {
    const [row] = await readQueues(db, [name]);
    if (row === undefined) throw queueUnknown(name);
    return row.settings as unknown as QueueSettings;
  }

  async list(db: Executor): Promise<QueueInfo[]> {
    return (await readAllQueues(db)).map(shownOf);
  }

  /**
   * Returns a queue with its label validation: as declared in code, else as stored. Concurrent calls share one
   * statement, unless they run in a transaction.
   */
  async known(name: string, tx?: Executor): Promise<AnyQueue> {
    const declared = this.#declared.get(name);
    if (declared !== undefined) return declared;
    const row = tx === undefined ? await this.#rows.add(name) : (await readQueues(tx, [name]))[0];
    if (row === undefined) throw queueUnknown(name);
    if (!row.label_code) return this.#rebuilt(row);
    throw new PawlError(
      "queue_unknown",
      `Labels of queue \`${name}\` are validated by code that is not registered in this process. Pass the queue to createPawl({ queues: […] }).`,
      { queue: name },
    );
  }

  /** Returns the same object until the queue changes, so that its schema is compiled once. */
  #rebuilt(row: QueueRow): AnyQueue {
    const from = JSON.stringify([row.settings, row.label_schema]);
    const made = this.#made.get(row.name);
    if (made?.from === from) return made.queue;
    const rebuilt = asStored(row);
    this.#made.set(row.name, { from, queue: rebuilt });
    return rebuilt;
  }
}

async function readInTurn(db: Executor, names: readonly string[]): Promise<(QueueRow | undefined)[]> {
  const rows = new Map((await readQueues(db, [...new Set(names)])).map((row) => [row.name, row]));
  return names.map((name) => rows.get(name));
}

function storedOf(one: AnyQueue, source: NewQueue["source"]): NewQueue {
  const { kind: _kind, name, label, form, rules, validate, rank, ...settings } = one;
  const labelCode = isSchema(label) || validate !== undefined || rank !== undefined || Object.keys(rules).length > 0;
  const labelSchemaText = storableText(form, `The label schema of \`${name}\``);
  return { name, source, settingsText: JSON.stringify(settings), labelSchemaText, labelCode };
}

/**
 * A queue that was created at run time. It was validated when it was stored; what would be refused today must not stop
 * its work.
 */
function asStored({ name, settings, label_schema: form }: QueueRow): AnyQueue {
  const functions = { rules: {}, validate: undefined, rank: undefined };
  return { kind: "queue", name, label: form, form, ...functions, ...(settings as unknown as QueueSettings) };
}

/** Converts a stored queue to the options of `queue()`. */
function definitionOf({ settings, label_schema }: QueueRow): Record<string, unknown> {
  const { finishWithinMs, startWithinMs, graceMs, labelers, agreement, instructions, ...rest } =
    settings as unknown as QueueSettings;
  return {
    ...rest,
    label: label_schema,
    finishWithin: finishWithinMs,
    startWithin: startWithinMs,
    ...(graceMs === 0 ? {} : { grace: graceMs }),
    ...(labelers === null ? {} : { labelers }),
    ...(agreement === null ? {} : { agreement }),
    ...((instructions ?? null) === null ? {} : { instructions: instructions! }),
  };
}

function refuseCodeSchema({ label, name, rules, validate, rank }: AnyQueue): void {
  if (!isSchema(label) && validate === undefined && rank === undefined && Object.keys(rules).length === 0) return;
  throw new PawlError(
    "option_invalid",
    `Queue \`${name}\` is created at run time, for all processes: its label must be a JSON Schema, and it cannot have functions. Declare a queue with library schemas, rules, checks or its own order in code, with queue() and createPawl({ queues: […] }).`,
  );
}

function shownOf({ name, active, source, settings, label_schema, created_ms, updated_ms }: QueueRow): QueueInfo {
  return {
    name,
    active,
    source,
    ...(settings as unknown as QueueSettings),
    // Queues that were stored before these settings existed.
    instructions: (settings.instructions as string | undefined) ?? null,
    maxExtensions: (settings.maxExtensions as number | undefined) ?? 10,
    labelSchema: label_schema,
    createdAt: new Date(created_ms),
    updatedAt: new Date(updated_ms),
  };
}
