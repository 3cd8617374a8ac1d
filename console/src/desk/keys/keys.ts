/** The actions of keys at the desk. */
export const actions = {
  submit: "Submit, and get the next sample",
  skip: "Skip, with a reason",
  instructions: "Open or close the instructions",
  help: "Show the keys",
} as const;

type Action = keyof typeof actions;
const digits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

/** An action, or the answer with this digit. */
export type Bound = Action | `choose ${(typeof digits)[number]}`;
export type Keys = Readonly<Record<Bound, string>>;

const names = Object.keys(actions) as Action[];
const first: Readonly<Record<Action, string>> = { submit: "Enter", skip: "s", instructions: "i", help: "?" };

/** The default keys. */
export const usualKeys = {
  ...first,
  ...Object.fromEntries(digits.map((digit) => [`choose ${digit}`, String(digit)])),
} as Keys;

export const allBound = [...names, ...digits.map((digit) => `choose ${digit}` as const)] satisfies Bound[];

/** Keys that browsers use for navigation, or modifiers. */
const taken =
  /^(?:Tab|Escape| |Shift|Control|Alt|Meta|AltGraph|CapsLock|Dead|Process|Arrow\w+|Page\w+|Home|End|Unidentified)$/;

/** Whether a key can be given to an action. */
export function isFree(key: string): boolean {
  return key !== "" && !taken.test(key);
}

/** The stored keys, if each has one action; otherwise the defaults. */
export function readKeys(text: string | undefined): Keys {
  try {
    const given = JSON.parse(text ?? "{}") as Record<string, unknown>;
    const keys = { ...usualKeys, ...Object.fromEntries(allBound.flatMap((one) => kept(one, given[one]))) };
    return new Set(Object.values(keys)).size === allBound.length ? keys : usualKeys;
  } catch {
    return usualKeys;
  }
}

function kept(name: Bound, key: unknown): [Bound, string][] {
  return typeof key === "string" && isFree(key) ? [[name, named(key)]] : [];
}

/** Gives a key to an action; what had it gets the old one, so that nothing is left without. */
export function rebound(keys: Keys, name: Bound, key: string): Keys {
  const wanted = named(key);
  const other = allBound.find((one) => keys[one] === wanted);
  return { ...keys, ...(other === undefined ? {} : { [other]: keys[name] }), [name]: wanted };
}

/** The action of a key; undefined if none. */
export function boundTo(keys: Keys, key: string): Bound | undefined {
  return allBound.find((one) => keys[one] === named(key));
}

export function digitIn(bound: Bound): number | undefined {
  return bound.startsWith("choose ") ? Number(bound.slice(7)) : undefined;
}

/** A letter means the same with and without Shift. */
function named(key: string): string {
  return key.length === 1 ? key.toLowerCase() : key;
}

/** The name of a key as printed on a keyboard. */
export function shownKey(key: string): string {
  return key.length === 1 ? key.toUpperCase() : key;
}
