import { fdatasyncSync, fsyncSync } from "node:fs";
import type { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";

interface Stream {
  readonly nfd: number;
  readonly node: { readonly parent: { readonly name: string } };
}

// biome-ignore lint/suspicious/noExplicitAny: the operations of a file system of Emscripten, which has no types.
type Operation = (...args: any[]) => unknown;

/** The part of the engine that reaches the disk. */
interface Engine {
  readonly NODEFS: { readonly stream_ops: Record<string, Operation>; readonly node_ops: Record<string, Operation> };
}

type EngineOptions = Parameters<NodeFS["init"]>[1];

/** What changes a name or a length on the disk. */
const changes = ["setattr", "mknod", "rename", "unlink", "rmdir", "symlink"];

/**
 * A file system on which fsync calls of Postgres reach the disk. PGlite's own leaves them out, so they have no effect
 * even with `fsync = on`. With them Postgres keeps its usual guarantees: a commit is answered when its WAL is on the
 * disk, and a checkpoint completes when the data files are.
 *
 * Commits that were requested at the same time share one sync: between `hold` and `settle` the WAL's sync is delayed,
 * and so are the answers. Postgres takes such a sync for done and may write data that must not be on the disk before
 * it, so any change of another file syncs the WAL first.
 */
export class SyncedFolder extends NodeFS {
  readonly syncs = { wal: 0, other: 0 };
  readonly #onFailure: (error: unknown) => never;
  #holding = false;
  #owed: Stream | undefined;

  constructor(folder: string, onFailure: (error: unknown) => never) {
    super(folder);
    this.#onFailure = onFailure;
  }

  override async init(pg: PGlite, options: EngineOptions): ReturnType<NodeFS["init"]> {
    const made = await super.init(pg, options);
    made.emscriptenOpts.preRun?.push((engine) => this.#watch(engine));
    return made;
  }

  hold(): void {
    this.#holding = true;
  }

  settle(): void {
    this.#holding = false;
    this.#payOwed();
  }

  #watch({ NODEFS: { stream_ops: onStream, node_ops: onNode } }: Engine): void {
    onStream.fsync = (stream: Stream) => this.#sync(stream);
    const write = onStream.write!;
    onStream.write = (stream: Stream, ...rest: unknown[]) => {
      if (!isWal(stream)) this.#payOwed();
      return write(stream, ...rest);
    };
    // The end of a segment, whose descriptor goes.
    onStream.close = this.#after(onStream.close!);
    onStream.setattr = this.#after(onStream.setattr!);
    for (const name of changes) onNode[name] = this.#after(onNode[name]!);
  }

  #after(operation: Operation): Operation {
    return (...args) => {
      this.#payOwed();
      return operation(...args);
    };
  }

  #sync(stream: Stream): number {
    if (!isWal(stream) || !this.#holding) {
      this.#payOwed();
      this.#syncNow(stream);
    } else if (this.#owed !== stream) {
      this.#payOwed();
      this.#owed = stream;
    }
    return 0;
  }

  #payOwed(): void {
    const stream = this.#owed;
    if (stream === undefined) return;
    this.#owed = undefined;
    this.#syncNow(stream);
  }

  /**
   * The content of the disk after a failed sync is unknown, and a second sync would not show it: only a restart does.
   */
  #syncNow(stream: Stream): void {
    try {
      if (isWal(stream)) {
        fdatasyncSync(stream.nfd);
        this.syncs.wal++;
      } else {
        fsyncSync(stream.nfd);
        this.syncs.other++;
      }
    } catch (error) {
      this.#onFailure(error);
    }
  }
}

function isWal(stream: Stream): boolean {
  return stream.node.parent.name === "pg_wal";
}
