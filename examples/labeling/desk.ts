import { isPawlError, type Json, type Pawl } from "pawl";
import { type Course, courseOf, labelBy, type SimulatedLabeler } from "./labelers.ts";
import { exampleKey } from "./round.ts";
import type { Example } from "./samples.ts";

/** The environment of a labeler. */
export interface Surroundings {
  readonly people: Pawl["people"];
  readonly queues: readonly string[];
  readonly examples: ReadonlyMap<string, Example>;
  readonly seed: number;
  /** Waits for a number of minutes, or until the end of work. */
  readonly pause: (minutes: number) => Promise<void>;
  readonly isOver: () => boolean;
}

/** An action of a labeler. */
export interface Tally {
  labels: number;
  late: number;
  skipped: number;
  /** Taken, and not finished in time. */
  left: number;
  /** Labels that their queue did not take. */
  refused: number;
}

const away = 14; // Longer than any deadline of a sample.
const tooLong = 11;
const tooLongToStart = 4;

/** A simulated labeler: takes the next sample, and handles it by habit. */
export class Desk {
  readonly labeler: SimulatedLabeler;
  readonly tally: Tally = { labels: 0, late: 0, skipped: 0, left: 0, refused: 0 };
  readonly #around: Surroundings;
  #doing = "";
  /** When they last asked without a result and did nothing since, and when they last did something. */
  #idleSince: number | undefined;
  #changedAt = 0;

  constructor(labeler: SimulatedLabeler, around: Surroundings) {
    this.labeler = labeler;
    this.#around = around;
  }

  /** For the display. */
  get doing(): string {
    return this.#doing;
  }

  /** Whether there is nothing for any of them, and there will not be: all were sent away after the last of them did something. */
  static areThrough(desks: readonly Desk[]): boolean {
    const changedAt = Math.max(...desks.map((desk) => desk.#changedAt));
    return desks.every((desk) => desk.#idleSince !== undefined && desk.#idleSince > changedAt);
  }

  async work(): Promise<void> {
    const { pause, isOver } = this.#around;
    while (!isOver()) {
      const askedAt = performance.now();
      if (await this.#takeOne()) {
        this.#changedAt = performance.now();
        continue;
      }
      this.#idleSince = askedAt;
      this.#doing = "";
      await pause(1);
    }
  }

  async #takeOne(): Promise<boolean> {
    const { people, queues, examples, seed } = this.#around;
    for (const queue of queues) {
      const given = await people.next(queue, this.labeler.name);
      if (given.assignment === null) continue;
      const { assignment, sample } = given;
      this.#idleSince = undefined;
      const example = examples.get(exampleKey(sample.key));
      if (example === undefined) throw new Error(`Nobody has taught the team about ${sample.key}.`);
      const course = courseOf(this.labeler, example.key, assignment.try, seed);
      try {
        await this.#go(course, assignment.id, example);
      } catch (error) {
        // The assignment expired before it was started, or was returned. Another labeler has it now.
        if (!isPawlError(error, "invalid_transition")) throw error;
        this.tally.left += 1;
      }
      return true;
    }
    return false;
  }

  async #go(course: Course, id: string, example: Example): Promise<void> {
    const { people, pause, seed } = this.#around;
    const { name, minutes } = this.labeler;
    if (course === "dawdles") {
      this.#doing = `has not begun ${example.key}`;
      await pause(tooLongToStart);
      this.tally.left += 1;
      return;
    }
    await people.start(id, name);
    if (course === "vanishes") {
      this.#doing = `went away over ${example.key}`;
      await pause(away);
      this.tally.left += 1;
      return;
    }
    this.#doing = `${course === "is late" ? "takes too long over" : "looks at"} ${example.key}`;
    await pause(course === "is late" ? tooLong : minutes);
    const done = labelBy(this.labeler, example, seed);
    if ("skip" in done) {
      await people.skip(id, name, { reason: done.skip });
      this.tally.skipped += 1;
      return;
    }
    const { late } = await this.#submit(id, done.label);
    if (late) this.tally.late += 1;
    else this.tally.labels += 1;
  }

  /** Corrects a label that the queue refuses. Only guesses need it. */
  async #submit(id: string, label: Readonly<Record<string, Json>>): Promise<{ late: boolean }> {
    const { people } = this.#around;
    try {
      return await people.submit(id, this.labeler.name, label);
    } catch (error) {
      if (!isPawlError(error, "label_invalid")) throw error;
      this.tally.refused += 1;
      return await people.submit(id, this.labeler.name, { ...label, comment: "It sounded urgent." });
    }
  }
}
