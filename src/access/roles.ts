/** The rights of each role. */
export const permissions = {
  viewer: ["look"],
  operator: ["look", "send", "operate"],
  admin: ["look", "send", "operate", "label", "administer"],
  /** Sees only their own assignments. */
  labeler: ["label"],
  /** A program that starts instances and sends events. */
  service: ["look", "send"],
} as const satisfies Record<string, readonly Permission[]>;

/**
 * `send`: start instances and send events. `operate`: decide on dead letters, pause, force. `label`: label in one's own
 * name.
 */
export type Permission = "look" | "send" | "operate" | "label" | "administer";

export type Role = keyof typeof permissions;

export const roles = Object.keys(permissions) as readonly Role[];

export function isRole(value: unknown): value is Role {
  return roles.includes(value as Role);
}

export function may(role: Role, permission: Permission): boolean {
  return (permissions[role] as readonly Permission[]).includes(permission);
}
