import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as macrotask } from "node:timers/promises";

/**
 * Calls on one transaction run one after the other. They share a connection and its savepoints: if two were
 * interleaved, the rollback of a refused one would also undo what the other has written in the meantime.
 */

/** A queue of calls: that of a connection, or the one inside a call that has its turn, for the calls made by its hooks. */
interface Queue {
  readonly connection: object;
  /** The queue of the call that this one is inside of. */
  readonly outer: Queue | undefined;
  isOpen: boolean;
  /** Settles when the last call in the queue has ended; never rejects. */
  last: Promise<void>;
}

const queues = new WeakMap<object, Queue>();
const inside = new AsyncLocalStorage<Queue>();

/**
 * Runs `work` when all earlier calls on `connection` have ended. What `work` itself calls on the same connection does not
 * wait for `work`: it takes turns in a queue of its own, and `work` ends when that queue is empty.
 */
export async function inTurn<T>(connection: object, work: () => Promise<T>): Promise<T> {
  const queue = queueFor(connection);
  const before = queue.last;
  let endTurn = (): void => {};
  queue.last = new Promise((resolve) => {
    endTurn = resolve;
  });
  await before;
  const own: Queue = { connection, outer: inside.getStore(), isOpen: true, last: Promise.resolve() };
  try {
    const result = await inside.run(own, work);
    await drain(own);
    endTurn();
    return result;
  } catch (error) {
    await drain(own);
    // A caller that aborts sends its `rollback` before the next call begins: in the middle of one, the statements after
    // the rollback would each commit alone.
    void macrotask().then(endTurn);
    throw error;
  }
}

/** Waits for calls that `work` has made without waiting for them. */
async function drain(queue: Queue): Promise<void> {
  for (let last: Promise<void> | undefined; last !== queue.last; ) {
    last = queue.last;
    await last;
  }
  queue.isOpen = false;
}

function queueFor(connection: object): Queue {
  let nearest = inside.getStore();
  while (nearest !== undefined && nearest.connection !== connection) nearest = nearest.outer;
  // A call that was left behind by a hook that has ended waits like any other.
  if (nearest?.isOpen === true) return nearest;
  let queue = queues.get(connection);
  if (queue === undefined) {
    queue = { connection, outer: undefined, isOpen: true, last: Promise.resolve() };
    queues.set(connection, queue);
  }
  return queue;
}
