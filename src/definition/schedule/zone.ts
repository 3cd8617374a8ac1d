const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The clock of a time zone. A local time is written in milliseconds as if it were UTC; a moment is absolute. */
export class Zone {
  readonly #format: Intl.DateTimeFormat | undefined;

  constructor(name: string) {
    this.#format =
      name === "UTC" ? undefined : new Intl.DateTimeFormat("en", { timeZone: name, timeZoneName: "longOffset" });
  }

  /** The local time at a moment. */
  wallAt(momentMs: number): number {
    return momentMs + this.#aheadMs(momentMs);
  }

  /** The moments with this local time: one, two if it is repeated, none if it is skipped. */
  momentsOf(wallMs: number): number[] {
    const [before, after] = [this.#aheadMs(wallMs - dayMs), this.#aheadMs(wallMs + dayMs)];
    const candidates = before === after ? [wallMs - before] : [wallMs - before, wallMs - after];
    return candidates.filter((moment) => this.wallAt(moment) === wallMs).sort((one, other) => one - other);
  }

  /** The moment at which the clocks change past this skipped time. */
  momentAfterGap(wallMs: number): number {
    let [from, to] = [wallMs - dayMs, wallMs + dayMs];
    const after = this.#aheadMs(to);
    while (to - from > 1) {
      const middle = Math.floor((from + to) / 2);
      if (this.#aheadMs(middle) === after) to = middle;
      else from = middle;
    }
    return to;
  }

  /** By how much the clocks are turned back within the next hours. */
  turnsBackMs(momentMs: number, withinMs: number): number {
    return Math.max(0, this.#aheadMs(momentMs) - this.#aheadMs(momentMs + withinMs));
  }

  #aheadMs(momentMs: number): number {
    if (this.#format === undefined) return 0;
    const offset = this.#format.formatToParts(momentMs).find((part) => part.type === "timeZoneName")!.value;
    const [, sign, hours, minutes, seconds = "0"] = offsetPattern.exec(offset) ?? [];
    if (sign === undefined) return 0; // Plain "GMT".
    const ms = (Number(hours) * 60 + Number(minutes)) * minuteMs + Number(seconds) * 1_000;
    return sign === "+" ? ms : -ms;
  }
}

const offsetPattern = /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/;
