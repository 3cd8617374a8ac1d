import type { databaseRole } from "../../api/open/database.ts";
import { visible } from "../show/terminal.ts";
import type { Finding } from "./finding.ts";

type Role = Awaited<ReturnType<typeof databaseRole>>;

/** Whether the role has the rights that Pawl needs, and not many more. */
export function examineRole({ name, superuser, owns_schema: ownsSchema, lacks, search_path: path }: Role): Finding {
  const what = "Role";
  const role = visible(name);
  if (lacks.length > 0) {
    const found = `${role} lacks rights on ${lacks.slice(0, 5).join(", ")}${lacks.length > 5 ? `, and ${lacks.length - 5} more` : ""}`;
    return {
      what,
      ok: false,
      found,
      remedy: "Run the grants of the guide on database roles as the owner of the schema.",
    };
  }
  if (path.split(",")[0]!.trim() !== "pg_catalog") {
    const found = `${role} starts with search_path = ${visible(path)}`;
    const remedy = `Pawl sets it for its transactions; behind this pooler set it for all: alter role ${role} set search_path = pg_catalog, pg_temp;`;
    return { what, ok: true, warning: true, found, remedy };
  }
  if (superuser) {
    const remedy = "Pawl needs few rights: see the guide on database roles.";
    return { what, ok: true, warning: true, found: `${role} is a superuser`, remedy };
  }
  const found = ownsSchema ? `${role} owns the schema, and can migrate it` : `${role} runs Pawl, and cannot migrate it`;
  return { what, ok: true, found };
}
