import { expect, test } from "vitest";
import { examineRole } from "./examine-role.ts";

const owner = {
  name: "pawl_owner",
  superuser: false,
  owns_schema: true,
  lacks: [],
  search_path: "pg_catalog, pg_temp",
};

test.each([
  ["the owner", owner, { ok: true, found: "pawl_owner owns the schema, and can migrate it" }],
  [
    "an application",
    { ...owner, name: "pawl_app", owns_schema: false },
    { ok: true, found: "pawl_app runs Pawl, and cannot migrate it" },
  ],
  ["a superuser", { ...owner, name: "postgres", superuser: true }, { warning: true, found: "postgres is a superuser" }],
  [
    "one without grants",
    { ...owner, name: "app", lacks: ["function now", "sequence a", "sequence b", "table x", "table y", "table z"] },
    { ok: false, found: "app lacks rights on function now, sequence a, sequence b, table x, table y, and 1 more" },
  ],
  [
    "one behind a pooler that drops settings",
    { ...owner, search_path: '"$user", public' },
    { warning: true, remedy: expect.stringContaining("alter role pawl_owner set search_path") },
  ],
])("%s", (_what, role, finding) => {
  expect(examineRole(role)).toMatchObject({ what: "Role", ...finding });
});
