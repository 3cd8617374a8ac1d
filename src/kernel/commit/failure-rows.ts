import { cleanText } from "../../base/json.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import type { AlertRow } from "../../store/recovery/alerts.ts";
import type { DeadLetterRow, LetterDecision } from "../../store/recovery/dead-letters.ts";
import { type AlertKind, alertOfLetter } from "../recovery/alert-of-dead-letter.ts";
import { isOfEvent } from "../recovery/dead-letter.ts";

const isOfFailure = ({ kind }: AlertRow): boolean => kind === "instance_failed" || kind === "recovery_failed";

/** The instance that failed. */
interface FailedInstance {
  readonly lifecycle: LifecycleModel;
  readonly row: InstanceRow;
  readonly newId: () => string;
}

/** What one update writes about failures: dead letters, the decisions of earlier ones, and alerts. */
export class FailureRows {
  readonly deadLetters: DeadLetterRow[] = [];
  readonly letterDecisions: LetterDecision[] = [];
  readonly alerts: AlertRow[] = [];
  readonly #of: FailedInstance;

  constructor(of: FailedInstance) {
    this.#of = of;
  }

  /** Adds a dead letter. An instance has one open letter at most: an earlier one is superseded. */
  addDeadLetter(letter: DeadLetterRow): void {
    if (letter.kind === "instance") {
      this.dropLetters();
      this.decideLetters("discarded", null, `superseded by dead letter ${letter.id}`);
    }
    this.deadLetters.push(letter);
  }

  /** Drops the dead letters about the instance that this update would have written. */
  dropLetters(): void {
    replace(this.deadLetters, ({ kind }) => kind !== "instance");
  }

  /** Decides the open dead letters about the instance. The last decision counts. */
  decideLetters(status: LetterDecision["status"], actor: string | null, reason: string | null): void {
    this.#decide({ about: "instance", status, actor, reason });
  }

  /**
   * Drops the dead letters of events that belong to what ends, with their alerts, and decides those that may have been
   * written before.
   */
  resolveEvents(about: "visit" | "run", mayBeWritten: boolean, actor: string | null, reason: string): void {
    this.#dropWithAlerts(this.deadLetters.filter((letter) => isOfEvent(letter, about)));
    const isIncluded = this.letterDecisions.some((one) => one.about === "run");
    if (mayBeWritten && !isIncluded) this.#decide({ about, status: "discarded", actor, reason });
  }

  #decide(decision: Omit<LetterDecision, "instanceId">): void {
    const isOfInstance = decision.about === "instance";
    replace(this.letterDecisions, ({ about }) => (about === "instance") !== isOfInstance);
    this.letterDecisions.push({ instanceId: this.#of.row.id, ...decision });
  }

  /** Adds a dead letter, and an alert of the same cause. */
  giveUp(kind: AlertKind, letter: DeadLetterRow): void {
    this.addDeadLetter(letter);
    const { lifecycle, row, newId } = this.#of;
    this.alerts.push(alertOfLetter(newId(), kind, { lifecycle, key: row.key }, letter));
  }

  /** Whether the instance itself failed permanently, not only one of its events. */
  get isGivenUp(): boolean {
    return this.alerts.some(isOfFailure);
  }

  /** The parent handles the failure: neither letter nor alert is written. */
  leaveToParent(): void {
    this.#dropWithAlerts(this.alerts.filter(isOfFailure));
    if (this.letterDecisions.some(({ about }) => about === "instance"))
      this.decideLetters("discarded", null, "left to its parent");
  }

  /** Drops dead letters and alerts of these causes. */
  #dropWithAlerts(dropped: readonly { readonly cause: string }[]): void {
    const causes = new Set(dropped.map(({ cause }) => cause));
    replace(this.alerts, ({ cause }) => !causes.has(cause));
    replace(this.deadLetters, ({ cause }) => !causes.has(cause));
  }

  /** Adds an alert that comes without a dead letter. */
  addAlert(alert: {
    cause: string;
    kind: AlertKind;
    message: string;
    details: Readonly<Record<string, unknown>>;
  }): void {
    const { cause, kind, message, details } = alert;
    const { lifecycle, row, newId } = this.#of;
    const about = { lifecycle: lifecycle.name, instanceId: row.id, key: row.key };
    const texts = { message: cleanText(message, 1_000), detailsText: JSON.stringify(details) };
    this.alerts.push({ id: newId(), cause, kind, ...about, ...texts });
  }
}

function replace<T>(list: T[], isKept: (one: T) => boolean): void {
  list.splice(0, list.length, ...list.filter(isKept));
}
