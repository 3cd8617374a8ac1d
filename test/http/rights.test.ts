import { readFileSync } from "node:fs";
import { crowd, job, lifecycle, queue, schedule } from "pawl";
import { httpApp } from "pawl/http";
import { memoryMarketplace, type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { namesIn, type Route, rightsFor } from "../../src/http/api/route.ts";
import type { Schema } from "../../src/http/api/schema.ts";
import { otherOperations } from "../../src/http/routes/other-operations.ts";
import { routes } from "../../src/http/routes/routes.ts";

type Role = "viewer" | "service" | "operator" | "admin" | "labeler";
type Right = "read" | "send" | "operate" | "label" | "administer";
/** Whose the thing is that a request is about: for a labeler own work, somebody else's, or one of Pawl's own lifecycles. */
type Whose = "own" | "other's" | "internal";

const roles: readonly Role[] = ["viewer", "service", "operator", "admin", "labeler"];

/** The rights of the guide: what is documented is what is held against the routes. */
function documentedRights(): ReadonlyMap<Role, readonly Right[]> {
  const guide = readFileSync(new URL("../../docs/guides/http.md", import.meta.url), "utf8");
  const table = guide.slice(guide.indexOf("| role |")).split("\n\n")[0]!;
  const [head, , ...rows] = table.split("\n");
  const cells = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [, ...rights] = cells(head!) as [string, ...Right[]];
  const all = rows.map(cells).filter(([name]) => /^`\w+`$/.test(name!));
  return new Map(
    all.map(([name, ...marks]) => [
      name!.replaceAll("`", "") as Role,
      rights.filter((_, index) => marks[index] !== ""),
    ]),
  );
}

const essay = lifecycle("essay", {
  data: z.object({ text: z.string() }),
  initial: "written",
  states: { written: { forever: true, on: { graded: "scored" } }, scored: { final: "success" } },
});
const mail = job("mail", { run: () => {} });
const nightly = schedule("nightly", { cron: "30 3 * * *", timezone: "UTC", start: mail });
const pictures = queue("pictures", { label: z.object({ animal: z.enum(["cat", "dog"]) }) });
const receipts = crowd("receipts", { label: z.object({ total: z.number() }), marketplace: "here" });

let t: TestPawl;
let app: ReturnType<typeof httpApp>;
const headers = new Map<Role, Record<string, string>>();
const ids = { instance: "", own: "", "other's": "", internal: "" };
beforeAll(async () => {
  t = await testPawl({
    lifecycles: [essay, mail],
    schedules: [nightly],
    queues: [pictures],
    crowds: [receipts],
    marketplaces: { here: memoryMarketplace() },
    breakers: { llm: {} },
  });
  app = httpApp(t.pawl);
  for (const role of roles) {
    const { secret } = await t.pawl.access.createToken({ name: `the-${role}`, role });
    headers.set(role, { authorization: `Bearer ${secret}`, "content-type": "application/json" });
  }
  ids.instance = (await t.pawl.start(essay, { key: "e1", data: { text: "…" } })).id;
  const { people } = t.pawl;
  await people.addMany(pictures, [
    { key: "p1", data: 1 },
    { key: "p2", data: 2 },
  ]);
  ids.internal = (await people.sample({ queue: "pictures", key: "p1" })).id;
  const given = async (labeler: string) =>
    ((await people.next(pictures, labeler)) as { assignment: { id: string } }).assignment.id;
  ids.own = await given("the-labeler");
  ids["other's"] = await given("bob");
});
afterAll(() => t.close());

const values: Readonly<Record<string, string>> = {
  lifecycle: "essay",
  key: "e1",
  lane: "essay",
  job: "mail",
  breaker: "llm",
  schedule: "nightly",
  queue: "pictures",
  crowd: "receipts",
  marketplace: "here",
  state: "written",
  event: "graded",
};

function pathOf(route: Route, whose: Whose, event: string): string {
  const isDesk = [route.right].flat().includes("label") && route.path.includes("{id}");
  const id = isDesk ? ids[whose] : whose === "internal" ? ids.internal : ids.instance;
  const lifecycleName = whose === "internal" ? "pawl_sample" : "essay";
  return route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(
      name === "id" ? id : name === "event" ? event : name === "lifecycle" ? lifecycleName : (values[name] ?? "x"),
    ),
  );
}

function bodyOf({ takes = {}, needs = [] }: Route): Record<string, unknown> {
  const sampleOf = (schema: Schema): unknown =>
    schema.enum?.[0] ?? { object: {}, array: [], boolean: true, integer: 1, number: 1 }[String(schema.type)] ?? "text";
  const given = "dedupeKey" in takes ? [...needs, "dedupeKey"] : needs;
  return Object.fromEntries(given.map((name) => [name, sampleOf(takes[name]!)]));
}

async function ask(role: Role | undefined, route: Route, whose: Whose, event = "graded") {
  const path = pathOf(route, whose, event);
  const isGet = route.method === "get";
  const query = isGet ? `?${new URLSearchParams(bodyOf(route) as Record<string, string>)}` : "";
  const wait = route.waits === true ? `${query === "?" ? "?" : `${query}&`}timeout=1ms` : query;
  const response = await app.request(`/api${path}${wait}`, {
    method: route.method.toUpperCase(),
    headers: role === undefined ? { "content-type": "application/json" } : headers.get(role)!,
    ...(isGet ? {} : { body: JSON.stringify(bodyOf(route)) }),
  });
  const text = await response.text();
  return { status: response.status, text, code: (JSON.parse(text) as { code?: string } | null)?.code };
}

/** Requests that would end what later ones need are asked last. */
function endsSomething({ name }: Route): boolean {
  return ["revokeToken", "revokeSession", "deactivateQueue", "pause", "submitLabel", "skipAssignment"].includes(name);
}

describe("who may what", () => {
  test("the guide names every role and every right", () => {
    expect([...documentedRights().keys()].sort()).toEqual([...roles].sort());
    expect(new Set([...documentedRights().values()].flat())).toEqual(
      new Set(["read", "send", "operate", "label", "administer"]),
    );
  });

  test("every route asks a stranger to come in", async () => {
    for (const route of routes) expect((await ask(undefined, route, "own")).status, route.path).toBe(401);
    const open = otherOperations.filter(({ may }) => may === null).map(({ method, path }) => `${method} ${path}`);
    expect(open.sort()).toEqual([
      "delete /api/session",
      "get /api/session",
      "get /health",
      "get /metrics",
      "get /ready",
      "post /api/session",
      "post /callbacks/{token}",
    ]);
  });

  test.each(roles)("every route answers %s as the guide says, whosever the thing is", async (role) => {
    const rights = documentedRights().get(role)!;
    const ordered = [...routes.filter((one) => !endsSomething(one)), ...routes.filter(endsSomething)];
    for (const route of ordered) {
      const events = route.reserved === undefined ? ["graded"] : ["graded", ...route.reserved.values];
      for (const event of events) {
        const needed = rightsFor(route, (name) => (name === "event" ? event : undefined)) as readonly Right[];
        const isAllowed = needed.some((right) => rights.includes(right));
        // What is allowed is only asked for where it changes nothing that others need.
        const kinds: readonly Whose[] =
          isAllowed && endsSomething(route) ? ["other's"] : ["own", "other's", "internal"];
        for (const whose of kinds) {
          const told = await ask(role, route, whose, event);
          const what = `${role} ${route.method} ${pathOf(route, whose, event)} (${whose}): ${told.status} ${told.text}`;
          expect(told.status, what).toBeLessThan(500 + (route.waits === true ? 5 : 0));
          if (!isAllowed) expect([told.status, told.code], what).toEqual([403, "not_allowed"]);
          else if (isClosed(route, whose)) expect([told.status, told.code], what).toEqual([403, "not_allowed"]);
          else if (isOthers(role, route, whose)) expect([403, 404], what).toContain(told.status);
          else expect(told.text, what).not.toContain("needs the right");
        }
      }
    }
  });

  /** Nobody starts or moves what is Pawl's own. */
  function isClosed({ name, path }: Route, whose: Whose): boolean {
    return whose === "internal" && /^(?:start|send|receive)(?:ByKey)?$/.test(name) && /\{(?:id|lifecycle)\}/.test(path);
  }

  /** A labeler finds nothing of somebody else's work. */
  function isOthers(role: Role, { path }: Route, whose: Whose): boolean {
    return role === "labeler" && whose !== "own" && namesIn(path).includes("id");
  }
});
