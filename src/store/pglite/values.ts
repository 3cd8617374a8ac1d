/**
 * Values of users' own texts, to and from the texts of Postgres: the same as `pg` gives and takes, so that a hook that
 * was written against one database works on the other. (`interval` stays a text here.)
 */
type Read = (text: string) => unknown;

const asIs: Read = (text) => text;
const integer: Read = (text) => Number.parseInt(text, 10);
const float: Read = (text) => Number.parseFloat(text);
const boolean: Read = (text) => text === "t";
const bytes: Read = (text) => Buffer.from(text.slice(2), "hex");

const scalars: Record<number, Read> = {
  16: boolean,
  17: bytes,
  20: Number, // int8
  21: integer,
  23: integer,
  26: integer, // oid
  114: JSON.parse,
  600: point,
  700: float,
  701: float,
  718: circle,
  1082: readDate,
  1114: readDate, // timestamp
  1184: readDate, // timestamptz
  3802: JSON.parse, // jsonb
};

const elements: Record<number, Read> = {
  199: JSON.parse,
  651: asIs, // cidr
  791: asIs, // money
  1000: boolean,
  1001: bytes,
  1005: integer,
  1007: integer,
  1008: asIs,
  1009: asIs, // text
  1014: asIs,
  1015: asIs, // varchar
  1016: asIs, // int8, as texts: that is what `pg` does
  1017: point,
  1021: float,
  1022: float,
  1028: integer,
  1040: asIs, // macaddr
  1041: asIs, // inet
  1115: readDate,
  1182: readDate,
  1183: asIs, // time
  1185: readDate,
  1231: float, // numeric
  1270: asIs, // timetz
  2951: asIs, // uuid
  3807: JSON.parse,
  3907: asIs, // numrange
};

const readers = new Map<number, Read>();
for (const [oid, read] of Object.entries(scalars)) readers.set(Number(oid), read);
for (const [oid, read] of Object.entries(elements)) readers.set(Number(oid), (text) => readArray(text, read));

/** How a column of a type is read; unknown types stay the texts that they are. */
export function readerOf(oid: number): Read {
  return readers.get(oid) ?? asIs;
}

function point(text: string): { x: number; y: number } {
  const [x, y] = text.slice(1, -1).split(",");
  return { x: Number.parseFloat(x!), y: Number.parseFloat(y!) };
}

function circle(text: string): { x: number; y: number; radius: number } {
  const [x, y, radius] = text.replace(/[<>()]/g, "").split(",");
  return { x: Number.parseFloat(x!), y: Number.parseFloat(y!), radius: Number.parseFloat(radius!) };
}

const dateParts = /^(\d+)-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(\.\d+)?([+-]\d\d(?::\d\d){0,2})?)?( BC)?$/;

/** A moment with a zone is that moment; one without is a reading of this machine's own clock, as `pg` has it. */
function readDate(text: string): Date | number | null {
  if (text === "infinity") return Number.POSITIVE_INFINITY;
  if (text === "-infinity") return Number.NEGATIVE_INFINITY;
  const found = dateParts.exec(text);
  if (found === null) return null;
  const [, years, month, day, hour = "0", minute = "0", second = "0", fraction = "0", zone, beforeChrist] = found;
  const year = beforeChrist === undefined ? Number(years) : 1 - Number(years);
  const ms = 1000 * Number.parseFloat(fraction);
  // Set in two steps: a constructor takes the years 0 to 99 for those of the twentieth century.
  const date = new Date(0);
  if (zone === undefined) {
    date.setFullYear(year, Number(month) - 1, Number(day));
    date.setHours(Number(hour), Number(minute), Number(second), ms);
    return date;
  }
  date.setUTCFullYear(year, Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second), ms);
  if (zone === "+00") return date;
  const [hours, minutes = "0", seconds = "0"] = zone.slice(1).split(":");
  const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return new Date(date.getTime() - (zone.startsWith("-") ? -1000 : 1000) * offset);
}

/** Reads `{1,NULL,"a \"b\""}`, nested, also with the bounds that Postgres writes before unusual ones. */
function readArray(text: string, read: Read): unknown[] {
  let at = text.startsWith("[") ? text.indexOf("=") + 1 : 0;
  function list(): unknown[] {
    const found: unknown[] = [];
    at++; // {
    while (text[at] !== "}") {
      if (text[at] === ",") at++;
      if (text[at] === "{") found.push(list());
      else if (text[at] === '"') found.push(read(quoted()));
      else {
        const start = at;
        while (text[at] !== "," && text[at] !== "}") at++;
        const bare = text.slice(start, at);
        found.push(bare === "NULL" ? null : read(bare));
      }
    }
    at++; // }
    return found;
  }
  function quoted(): string {
    let content = "";
    let start = ++at;
    while (text[at] !== '"') {
      if (text[at] === "\\") {
        content += text.slice(start, at);
        start = ++at;
      }
      at++;
    }
    content += text.slice(start, at++);
    return content;
  }
  return list();
}

/** A value as the text that Postgres reads; null for null. */
export function writeValue(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object") return `${value as string | number | boolean | bigint}`;
  if (ArrayBuffer.isView(value)) return `\\x${hex(value)}`;
  if (value instanceof Date) return writeDate(value);
  if (Array.isArray(value)) return writeArray(value);
  const own = (value as { toPostgres?: (write: (value: unknown) => unknown) => unknown }).toPostgres;
  return typeof own === "function" ? writeValue(own.call(value, writeValue)) : JSON.stringify(value);
}

function writeArray(list: readonly unknown[]): string {
  const items = list.map((item) => {
    if (item === null || item === undefined) return "NULL";
    if (Array.isArray(item)) return writeArray(item);
    return `"${writeValue(item)!.replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${items.join(",")}}`;
}

function hex(view: ArrayBufferView): string {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("hex");
}

/** The reading of this machine's clock with its offset: right for a timestamptz, and a timestamp reads back the same. */
function writeDate(date: Date): string {
  const offset = -date.getTimezoneOffset();
  const year = date.getFullYear();
  const day = `${pad(year < 1 ? 1 - year : year, 4)}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  const zone = `${offset < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}`;
  return `${day}T${time}.${pad(date.getMilliseconds(), 3)}${zone}${year < 1 ? " BC" : ""}`;
}

function pad(number: number, length = 2): string {
  return String(number).padStart(length, "0");
}
