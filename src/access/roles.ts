/** What somebody may do; each role may do what its line says, and nothing else. */
export const permissions = {
  viewer: ["look"],
  operator: ["look", "send", "operate"],
  admin: ["look", "send", "operate", "label", "administer"],
  /** Sees only the work that is given to him. */
  labeler: ["label"],
  /** A program that starts instances and sends events. */
  service: ["look", "send"],
} as const satisfies Record<string, readonly Permission[]>;

/** `send`: start instances and send events. `operate`: decide about what was given up, pause, force. `label`: as oneself. */
export type Permission = "look" | "send" | "operate" | "label" | "administer";

export type Role = keyof typeof permissions;

export const roles = Object.keys(permissions) as readonly Role[];

export function isRole(value: unknown): value is Role {
  return roles.includes(value as Role);
}

export function may(role: Role, permission: Permission): boolean {
  return (permissions[role] as readonly Permission[]).includes(permission);
}
