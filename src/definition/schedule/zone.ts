const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * The clocks of a time zone. A time on the wall is written in milliseconds as if it were UTC; a moment is what the world
 * agrees on.
 */
export class Zone {
  readonly #format: Intl.DateTimeFormat | undefined;

  constructor(name: string) {
    this.#format =
      name === "UTC" ? undefined : new Intl.DateTimeFormat("en", { timeZone: name, timeZoneName: "longOffset" });
  }

  /** What the clocks on the wall show at a moment. */
  wallAt(momentMs: number): number {
    return momentMs + this.#aheadMs(momentMs);
  }

  /** The moments at which the clocks show this: one, two when it comes twice, none when it is skipped. */
  momentsOf(wallMs: number): number[] {
    const [before, after] = [this.#aheadMs(wallMs - dayMs), this.#aheadMs(wallMs + dayMs)];
    const candidates = before === after ? [wallMs - before] : [wallMs - before, wallMs - after];
    return candidates.filter((moment) => this.wallAt(moment) === wallMs).sort((one, other) => one - other);
  }

  /** The moment at which the clocks go on after they skipped this. */
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
    const told = this.#format.formatToParts(momentMs).find((part) => part.type === "timeZoneName")!.value;
    const [, sign, hours, minutes, seconds = "0"] = offsetPattern.exec(told) ?? [];
    if (sign === undefined) return 0; // Plain "GMT".
    const ms = (Number(hours) * 60 + Number(minutes)) * minuteMs + Number(seconds) * 1_000;
    return sign === "+" ? ms : -ms;
  }
}

const offsetPattern = /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/;
