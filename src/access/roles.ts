/** The rights of each role. */
export const rights = {
  viewer: ["read"],
  operator: ["read", "send", "operate"],
  admin: ["read", "send", "operate", "label", "administer"],
  /** Sees only their own assignments. */
  labeler: ["label"],
  /** A program that starts instances and sends events. */
  service: ["read", "send"],
} as const satisfies Record<string, readonly Right[]>;

/**
 * `send`: start instances and send events. `operate`: decide on dead letters, pause, force. `label`: label in one's own
 * name.
 */
export type Right = "read" | "send" | "operate" | "label" | "administer";

export type Role = keyof typeof rights;

export const roles = Object.keys(rights) as readonly Role[];

export function isRole(value: unknown): value is Role {
  return roles.includes(value as Role);
}

export function may(role: Role, right: Right): boolean {
  return (rights[role] as readonly Right[]).includes(right);
}
