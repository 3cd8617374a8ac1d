import { type AssignmentRecord, statusOf } from "./records.ts";
import type { World } from "./world.ts";

/** The texts of a submitted form, by the names of its inputs; a list for selected options. */
export type Filled = Readonly<Record<string, string | readonly string[]>>;

/** Actions of workers, who use the website and not the API. Impossible ones throw. */
export class Workers {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  accept(job: string, worker: string): string {
    const world = this.#world;
    const hit = world.hit(job);
    if (statusOf(hit, world.now) !== "Assignable") throw new Error(`Nobody can begin on ${job} now.`);
    if (hit.assignments.some((one) => one.worker === worker)) throw new Error(`${worker} has begun on ${job} before.`);
    if (hit.requiredNone.some((id) => world.qualifications.get(id)?.workers.has(worker) === true)) {
      throw new Error(`${worker} is not qualified for ${job}.`);
    }
    const one: AssignmentRecord = {
      id: world.ids.next(),
      hit,
      worker,
      acceptedAt: world.now,
      deadline: world.now + Number(hit.terms.AssignmentDurationInSeconds) * 1_000,
      status: "Accepted",
      answer: "",
      submittedAt: 0,
      visibleAt: 0,
      autoApprovedAt: 0,
      decidedAt: 0,
      feedback: undefined,
    };
    hit.assignments.push(one);
    world.notify("AssignmentAccepted", hit, one);
    return one.id;
  }

  /** Submits the form; `hiddenMs` is how long the service refuses decisions about it. */
  submit(assignment: string, filled: Filled | string, { hiddenMs = 0 } = {}): string {
    const world = this.#world;
    const one = world.assignment(assignment);
    if (one.status !== "Accepted") throw new Error(`${assignment} was submitted before.`);
    const delay = Number(one.hit.terms.AutoApprovalDelayInSeconds ?? 2_592_000) * 1_000;
    one.status = "Submitted";
    one.answer = typeof filled === "string" ? filled : answersXml(filled);
    one.submittedAt = world.now;
    one.visibleAt = world.now + hiddenMs;
    one.autoApprovedAt = world.now + delay;
    world.notify("AssignmentSubmitted", one.hit, one);
    if (delay === 0) world.settle(one, "Approved");
    world.tellIfReviewable(one.hit);
    return one.id;
  }

  /** Accepts and sends at once. */
  work(job: string, worker: string, filled: Filled | string = {}, options: { hiddenMs?: number } = {}): string {
    return this.submit(this.accept(job, worker), filled, options);
  }

  giveBack(assignment: string): void {
    this.#world.giveUp(this.#world.assignment(assignment), "AssignmentReturned");
  }
}

const schema = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd";

function answersXml(filled: Filled): string {
  const answers = Object.entries(filled).map(([name, value]) => {
    const parts =
      typeof value === "string"
        ? `<FreeText>${escaped(value)}</FreeText>`
        : value.map((one) => `<SelectionIdentifier>${escaped(one)}</SelectionIdentifier>`).join("");
    return `<Answer><QuestionIdentifier>${escaped(name)}</QuestionIdentifier>${parts}</Answer>`;
  });
  const head = '<?xml version="1.0" encoding="ASCII"?>';
  return `${head}<QuestionFormAnswers xmlns="${schema}">${answers.join("")}</QuestionFormAnswers>`;
}

/** As the service does: characters outside ASCII are numeric references. */
function escaped(text: string): string {
  return text.replace(/[&<>]|[^\t\n\r -~]/gu, (mark) => `&#${mark.codePointAt(0)};`);
}
