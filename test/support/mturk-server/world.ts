import { type AssignmentRecord, type HitRecord, Ids, statusOf } from "./records.ts";
import { wrongAssignment, wrongHit } from "./refusal.ts";

const tokenLastsMs = 24 * 3_600_000;

interface Payment {
  readonly WorkerId: unknown;
  readonly BonusAmount: unknown;
  readonly AssignmentId: unknown;
  readonly Reason: unknown;
  readonly GrantTime: number;
}

/** The state of the marketplace, at a time that is moved by hand. */
export class World {
  readonly ids = new Ids();
  readonly hits = new Map<string, HitRecord>();
  readonly payments: Payment[] = [];
  /** Qualifications by their ids, with the workers who have them. */
  readonly qualifications = new Map<string, { readonly name: string; readonly workers: Set<string> }>();
  /** The receivers of notifications of HITs, by type. */
  readonly subscriptions = new Map<string, unknown>();
  /** Messages of the queue that it notifies, as they would be received. */
  readonly messages: string[] = [];
  balance = 10_000;
  /** The refusal of a used token: no code is documented, so the text may be any. */
  usedTokenText = (token: string): string => `The idempotency token "${token}" has already been processed.`;
  now: number;
  readonly #tokens = new Map<string, { readonly at: number; readonly made: string }>();

  constructor(now: number) {
    this.now = now;
  }

  /** The result of each token, as long as it is remembered. */
  madeBefore(operation: string, token: unknown): string | undefined {
    const used = this.#tokens.get(`${operation} ${String(token)}`);
    return used === undefined || this.now - used.at >= tokenLastsMs ? undefined : used.made;
  }

  remember(operation: string, token: unknown, made: string): void {
    if (token !== undefined) this.#tokens.set(`${operation} ${String(token)}`, { at: this.now, made });
  }

  hit(id: unknown): HitRecord {
    const hit = this.hits.get(String(id));
    if (hit === undefined) throw wrongHit(String(id));
    return hit;
  }

  assignment(id: unknown): AssignmentRecord {
    for (const hit of this.hits.values()) {
      const found = hit.disposed ? undefined : hit.assignments.find((one) => one.id === id);
      if (found !== undefined) return found;
    }
    throw wrongAssignment(String(id));
  }

  notify(event: string, hit: HitRecord, assignment?: AssignmentRecord): void {
    const told = { EventType: event, EventTimestamp: new Date(this.now).toISOString(), HITTypeId: hit.type };
    const Events = [{ ...told, HITId: hit.id, ...(assignment !== undefined && { AssignmentId: assignment.id }) }];
    const id = this.ids.next("E").toLowerCase();
    this.messages.push(
      JSON.stringify({ EventDocVersion: "2014-08-15", EventDocId: id, CustomerId: "A1REQUESTER", Events }),
    );
  }

  settle(one: AssignmentRecord, status: "Approved" | "Rejected", feedback?: string): void {
    one.status = status;
    one.decidedAt = this.now;
    one.feedback = feedback;
    this.notify(`Assignment${status}`, one.hit, one);
  }

  /** Frees the place, unless there is no time left for another worker. */
  giveUp(one: AssignmentRecord, event: "AssignmentReturned" | "AssignmentAbandoned"): void {
    one.hit.assignments.splice(one.hit.assignments.indexOf(one), 1);
    this.notify(event, one.hit, one);
    this.tellIfReviewable(one.hit);
  }

  tellIfReviewable(hit: HitRecord): void {
    if (statusOf(hit, this.now) === "Reviewable") this.notify("HITReviewable", hit);
  }

  /** Moves the time, and applies what was due by then. */
  advance(ms: number): void {
    const before = this.now;
    this.now += ms;
    for (const hit of this.hits.values()) {
      if (hit.disposed) continue;
      for (const one of [...hit.assignments]) {
        if (one.status === "Accepted" && one.deadline <= this.now) this.giveUp(one, "AssignmentAbandoned");
        if (one.status === "Submitted" && one.autoApprovedAt <= this.now) this.settle(one, "Approved");
      }
      if (hit.expiresAt > before && hit.expiresAt <= this.now) this.notify("HITExpired", hit);
    }
  }
}
