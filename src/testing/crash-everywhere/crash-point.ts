import { type FaultPoint, faultPoints } from "../../kernel/faults.ts";
import { PlantedFaults } from "../faults.ts";
import { never } from "../killable-db.ts";

/** A place at which a process can die: one of the engine's, or after an effect that an `EffectLedger` recorded. */
export type CrashPlace = FaultPoint | `effect:${string}`;

/** One visit of such a place, counted from 1. */
export interface CrashPoint {
  readonly place: CrashPlace;
  readonly visit: number;
}

/** A point as text, such as `report.before:2`; the format of `only`. */
export function crashPointName({ place, visit }: CrashPoint): string {
  return `${place}:${visit}`;
}

/** Undefined when it is no name of a point. */
export function readCrashPoint(name: unknown): CrashPoint | undefined {
  const [, place = "", visit = ""] = /^(.+):([1-9]\d{0,8})$/.exec(typeof name === "string" ? name : "") ?? [];
  const isKnown = place.startsWith("effect:") || (faultPoints as readonly string[]).includes(place);
  return isKnown ? { place: place as CrashPlace, visit: Number(visit) } : undefined;
}

/** Counts the visits of a process, and ends it at one of them. */
export class CrashFaults extends PlantedFaults {
  readonly #target: CrashPoint | undefined;
  readonly #onVisit: ((point: CrashPoint) => Promise<void>) | undefined;
  readonly #counts = new Map<CrashPlace, number>();
  /** Resolves when the process dies. */
  readonly died: Promise<void>;
  #tellDeath: () => void = () => {};
  #kill: (() => void) | undefined;

  constructor(target: CrashPoint | undefined, onVisit?: (point: CrashPoint) => Promise<void>) {
    super();
    this.#target = target;
    this.#onVisit = onVisit;
    this.died = new Promise((resolve) => {
      this.#tellDeath = resolve;
    });
  }

  /** Visits count from now on, until `disarm`. */
  arm(kill: () => void): void {
    this.#kill = kill;
  }

  disarm(): void {
    this.#kill = undefined;
  }

  override at(point: FaultPoint): Promise<void> {
    return this.visit(point);
  }

  async visit(place: CrashPlace): Promise<void> {
    if (this.#kill === undefined) return;
    const visit = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, visit);
    await this.#onVisit?.({ place, visit });
    if (this.#target?.place !== place || this.#target.visit !== visit) return;
    this.#kill();
    this.#tellDeath();
    await never();
  }
}

/** User code has run since the last visit: it may have changed something outside, whatever is stored. */
export function comesAfterUserCode({ place }: CrashPoint): boolean {
  const after: readonly CrashPlace[] = ["run.after", "transaction.hooked", "relay.afterPublish", "relay.afterConfirm"];
  return place.startsWith("effect:") || after.includes(place);
}

const moments: Readonly<Record<FaultPoint, string>> = {
  "start.before": "before an instance is stored",
  "start.after": "after an instance was stored, before the caller is answered",
  "commit.before": "before a move is stored",
  "commit.after": "after a move was stored, before any caller is answered",
  "transaction.locked": "inside a transaction, after the instance was locked",
  "transaction.hooked": "inside a transaction, after its `before` hooks ran",
  "transaction.written": "inside a transaction, after the move was written",
  "transaction.committed": "after a transaction was committed, before the caller is answered",
  "claim.before": "before tasks are claimed",
  "claim.after": "after tasks were claimed, before they run",
  "report.before": "before the outcome of a step is stored",
  "report.delivered": "while events are delivered to other instances",
  "report.after": "after the outcome of a step was stored",
  "run.before": "before claimed steps run",
  "run.after": "after steps ran, before their outcome is reported",
  "renew.before": "before leases are renewed",
  "promote.before": "before scheduled tasks are made ready",
  "promote.after": "after scheduled tasks were made ready",
  "fire.before": "before due timers are read",
  "fire.after": "after due timers fired",
  "lapse.read": "after expired leases were read",
  "receive.stored": "after a callback was stored, before it is matched",
  "schedule.read": "after schedules were read",
  "schedule.taken": "after a tick was claimed",
  "schedule.started": "after the instance of a tick was started",
  "schedule.committed": "after a tick was committed",
  "check.read": "after parents that wait for children were read",
  "relay.afterLock": "after messages were leased for sending",
  "relay.afterPublish": "after a message was handed to its broker",
  "relay.afterConfirm": "after the broker confirmed a message",
  "relay.afterMark": "after sent messages were marked",
  "prune.before": "before closed instances are deleted",
  "prune.after": "after closed instances were deleted",
};

/** What happens at a point, for a person. */
export function describePlace(place: CrashPlace): string {
  if (place.startsWith("effect:")) return `right after the effect \`${place.slice("effect:".length)}\` happened`;
  return moments[place as FaultPoint];
}
