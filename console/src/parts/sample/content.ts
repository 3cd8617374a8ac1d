import { isSchema, wordsOf } from "./words.ts";

/** A message of a conversation. */
interface Turn {
  readonly who: string;
  readonly text: string;
}

/** A part of a sample, and how it is displayed. */
export type Part = { readonly name: string | null } & (
  | { readonly kind: "text" | "image" | "audio" | "video" | "link"; readonly value: string }
  | { readonly kind: "fact"; readonly value: string }
  | { readonly kind: "talk"; readonly turns: readonly Turn[] }
  | { readonly kind: "json"; readonly value: unknown }
);

const longFact = 60;
const maxListed = 24;
const speakers = ["role", "speaker", "author", "from", "who", "name", "user"];
const sayings = ["text", "content", "message", "body", "says"];

const endings: readonly (readonly [Media, RegExp])[] = [
  ["image", /\.(?:png|jpe?g|gif|webp|avif|svg|bmp)$/i],
  ["audio", /\.(?:mp3|wav|ogg|oga|m4a|flac|aac|opus)$/i],
  ["video", /\.(?:mp4|webm|mov|m4v|ogv)$/i],
];
/** A URL often does not show its type; the name of its field does. */
const hints: readonly (readonly [Media, RegExp])[] = [
  ["image", /(?:image|picture|photo|img|thumbnail|screenshot|scan)s?(?:_?ur[il])?$/i],
  ["audio", /(?:audio|recording|sound|voice)s?(?:_?ur[il])?$/i],
  ["video", /(?:video|clip|film)s?(?:_?ur[il])?$/i],
];

type Media = "image" | "audio" | "video";

/** Content about, and so is read first, however short it is. */
export function isLead(name: string | null): boolean {
  return name !== null && leads.test(name);
}

const leads = /^(?:question|prompt|task|title|headline|subject|context|premise|claim|query)$/i;
/** Objects are kept without the order of their keys. */
const order: readonly Part["kind"][] = ["text", "image", "video", "audio", "talk", "link", "fact", "json"];

/** Content to be read, however short it is. */
const texts =
  /^(?:text|body|content|message|comment|post|posting|review|tweet|description|answer|response|sentence|paragraph|passage|document|summary|transcript|quote|statement)$/i;

/** Content that is compared has one size and one place, whichever is longer: `answer_a` and `answer_b`, or these. */
const twin = /[ _-]?(?:[a-d]|\d|one|two|left|right|first|second)$/i;
const compared =
  /^(?:left|right|first|second|before|after|old|new|original|translation|source|target|reference|candidate|baseline|chosen|rejected|human|model|[a-d])$/i;

/** The names of the texts that are compared with each other. */
function twinsIn(entries: readonly (readonly [string, unknown])[]): ReadonlySet<string> {
  const stems = new Map<string, string[]>();
  for (const [name, value] of entries) {
    if (typeof value !== "string") continue;
    const stem = compared.test(name) ? "" : twin.test(name) ? name.replace(twin, "").toLowerCase() : undefined;
    if (stem !== undefined) stems.set(stem, [...(stems.get(stem) ?? []), name]);
  }
  return new Set([...stems.values()].filter((names) => names.length > 1).flat());
}

/** The displayed parts of a sample, by the shape of its data. */
export function partsOf(data: unknown): Part[] {
  if (!isSchema(data)) return partsAt(null, data);
  const place = ({ name, kind }: Part) => (isLead(name) ? -1 : order.indexOf(kind));
  const entries = Object.entries(data);
  const twins = twinsIn(entries);
  const parts = entries.flatMap(([name, value]) =>
    partsAt(name, value).map((part) =>
      part.kind === "fact" && twins.has(name) ? { ...part, kind: "text" as const } : part,
    ),
  );
  return parts.sort((one, other) => place(one) - place(other));
}

function partsAt(key: string | null, value: unknown): Part[] {
  const name = key === null ? null : wordsOf(key);
  if (value === null || value === undefined) return key === null ? [{ name, kind: "json", value: null }] : [];
  if (typeof value === "string") return [textPart(key, name, value)];
  if (typeof value === "number") return [{ name, kind: "fact", value: String(value) }];
  if (typeof value === "boolean") return [{ name, kind: "fact", value: value ? "Yes" : "No" }];
  if (Array.isArray(value)) return listParts(key, name, value);
  return [{ name, kind: "json", value }];
}

function textPart(key: string | null, name: string | null, value: string): Part {
  const kind = addressKind(key, value);
  if (kind !== undefined) return { name, kind, value };
  const isRead = key === null || isLead(key) || texts.test(key);
  const isShort = !isRead && value.length <= longFact && !value.includes("\n");
  return { name, kind: isShort ? "fact" : "text", value };
}

function listParts(key: string | null, name: string | null, value: readonly unknown[]): Part[] {
  const turns = turnsOf(value);
  if (turns !== undefined) return [{ name, kind: "talk", turns }];
  const isMedia = (one: unknown) => typeof one === "string" && addressKind(key, one) !== undefined;
  if (value.length > 0 && value.length <= maxListed && value.every(isMedia)) {
    return value.map((one, index) => ({
      name: name === null ? null : `${name} ${index + 1}`,
      kind: addressKind(key, one as string)!,
      value: one as string,
    }));
  }
  if (value.length > 0 && value.every((one) => typeof one === "string"))
    return [{ name, kind: "text", value: value.map((one) => `• ${one}`).join("\n") }];
  return [{ name, kind: "json", value }];
}

/** A list of messages with their speakers. */
function turnsOf(value: readonly unknown[]): Turn[] | undefined {
  const turns = value.map((one) => {
    if (!isSchema(one)) return undefined;
    const who = textIn(one, speakers);
    const text = textIn(one, sayings);
    return who === undefined || text === undefined ? undefined : { who: wordsOf(who), text };
  });
  return turns.length > 0 && turns.every((turn) => turn !== undefined) ? turns : undefined;
}

function textIn(value: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = value[name];
    if (typeof found === "string" && found !== "") return found;
  }
  return undefined;
}

/** Whether a text is the URL of something to display: only what is safe to load, or to follow. */
function addressKind(key: string | null, value: string): Media | "link" | undefined {
  const inside = /^data:(image|audio|video)\/[\w.+-]+[;,]/i.exec(value);
  if (inside !== null) return inside[1]!.toLowerCase() as Media;
  if (!/^https?:\/\/[^\s]+$/i.test(value)) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined) return undefined;
  // The page loads nothing without encryption.
  if (url.protocol === "http:") return "link";
  const byEnding = endings.find(([, ending]) => ending.test(url.pathname));
  const byName = hints.find(([, hint]) => key !== null && hint.test(key));
  return byEnding?.[0] ?? byName?.[0] ?? "link";
}
