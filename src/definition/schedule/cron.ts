/** A cron expression of five fields, read: the values of each that match. */
export interface Cron {
  readonly text: string;
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  /** From 0 for Sunday to 6. */
  readonly weekdays: readonly number[];
  /** Both the days of the month and those of the week are limited: then either may match, as in every cron. */
  readonly eitherDay: boolean;
  /** Neither the minute nor the hour begins with `*`: it means times of the day, each once, and not a rhythm. */
  readonly atFixedTimes: boolean;
}

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly words: readonly string[];
}

const fields: readonly Field[] = [
  { name: "minute", least: 0, most: 59, words: [] },
  { name: "hour", least: 0, most: 23, words: [] },
  { name: "day of the month", least: 1, most: 31, words: [] },
  { name: "month", least: 1, most: 12, words: "jan feb mar apr may jun jul aug sep oct nov dec".split(" ") },
  { name: "day of the week", least: 0, most: 7, words: "sun mon tue wed thu fri sat".split(" ") },
];

/** The expression, or the sentence that says why it is invalid. */
export function parseCron(text: string): Cron | string {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    return `${JSON.stringify(text)} has ${parts.length} fields; minute, hour, day, month and weekday are needed.`;
  }
  const values: number[][] = [];
  for (const [index, field] of fields.entries()) {
    const matched = parseField(parts[index]!.toLowerCase(), field);
    if (typeof matched === "string") return `The ${field.name} of ${JSON.stringify(text)} is wrong: ${matched}`;
    values.push(matched);
  }
  const [minutes, hours, days, months] = values as [number[], number[], number[], number[]];
  const weekdays = [...new Set(values[4]!.map((day) => day % 7))].sort((one, other) => one - other);
  const eitherDay = !parts[2]!.startsWith("*") && !parts[4]!.startsWith("*");
  if (!eitherDay && !months.some((month) => days.some((day) => day <= longest[month - 1]!))) {
    return `${JSON.stringify(text)} never occurs: none of its months has such a day.`;
  }
  const atFixedTimes = !parts[0]!.startsWith("*") && !parts[1]!.startsWith("*");
  return { text: parts.join(" "), minutes, hours, days, months, weekdays, eitherDay, atFixedTimes };
}

const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function parseField(text: string, field: Field): number[] | string {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const range = parseRange(part, field);
    if (typeof range === "string") return range;
    for (let value = range.first; value <= range.last; value += range.step) values.add(value);
  }
  return [...values].sort((one, other) => one - other);
}

const partPattern = /^(?:(\*)|([a-z]{3}|\d{1,2})(?:-([a-z]{3}|\d{1,2}))?)(?:\/(\d{1,2}))?$/;

function parseRange(part: string, field: Field): { first: number; last: number; step: number } | string {
  const [, star, from, to, every] = partPattern.exec(part) ?? [];
  if (star === undefined && from === undefined) return `${JSON.stringify(part)} is neither *, a value nor a range.`;
  const first = star === undefined ? numberOf(from!, field) : field.least;
  // `5/15` counts from 5 to the end, a lone `5` is only itself.
  const single = star === undefined && to === undefined && every === undefined;
  const last = single ? first : to === undefined ? field.most : numberOf(to, field);
  const step = every === undefined ? 1 : Number(every);
  if (first === undefined || last === undefined) {
    return `${JSON.stringify(part)} is not within ${field.least} and ${field.most}.`;
  }
  if (first > last) return `${JSON.stringify(part)} runs backwards.`;
  return step === 0 ? `${JSON.stringify(part)} has a step of 0.` : { first, last, step };
}

function numberOf(text: string, field: Field): number | undefined {
  const word = field.words.indexOf(text);
  const value = word >= 0 ? word + field.least : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= field.least && value <= field.most ? value : undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** A 29th of February on a certain weekday can be forty years away. */
const farthestMs = 41 * 366 * dayMs;

/** The first time at or after `fromMs` that matches. Both are times of a clock on the wall, written as if it were UTC. */
export function nextMatch(cron: Cron, fromMs: number): number | undefined {
  const first = fromMs - mod(fromMs, dayMs);
  for (let day = first; day < first + farthestMs; ) {
    const date = new Date(day);
    if (!cron.months.includes(date.getUTCMonth() + 1)) {
      day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
      continue;
    }
    const time = matchesDay(cron, date) ? timeOfDay(cron, fromMs - day) : undefined;
    if (time !== undefined) return day + time;
    day += dayMs;
  }
  return undefined;
}

function matchesDay(cron: Cron, date: Date): boolean {
  const [byMonth, byWeek] = [cron.days.includes(date.getUTCDate()), cron.weekdays.includes(date.getUTCDay())];
  return cron.eitherDay ? byMonth || byWeek : byMonth && byWeek;
}

function timeOfDay({ hours, minutes }: Cron, fromMs: number): number | undefined {
  for (const hour of hours) {
    if ((hour + 1) * hourMs <= fromMs) continue;
    const minute = minutes.find((each) => hour * hourMs + each * minuteMs >= fromMs);
    if (minute !== undefined) return hour * hourMs + minute * minuteMs;
  }
  return undefined;
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}
