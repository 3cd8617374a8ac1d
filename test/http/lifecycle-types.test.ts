import { Ajv2020 } from "ajv/dist/2020.js";
import type { Hono } from "hono";
import { job, lifecycle } from "pawl";
import { httpApp } from "pawl/http";
import { type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

interface Place {
  readonly street: string;
  readonly within?: Place | undefined;
}
const place: z.ZodType<Place> = z.lazy(() => z.object({ street: z.string(), within: place.optional() }));

const order = lifecycle("order", {
  data: z.object({ address: place, items: z.number().default(1) }),
  events: {
    paid: z.object({ sum: z.number(), currency: z.enum(["EUR", "USD"]) }),
    noted: z.object({ note: z.string() }).optional(),
  },
  initial: "open",
  states: {
    open: { forever: true, on: { paid: "packing", noted: {}, closed: "done" } },
    packing: { forever: true, on: { packed: "done" } },
    done: { final: "success" },
  },
});
const plain = lifecycle("plain-one", {
  initial: "open",
  states: { open: { forever: true, on: { closed: "done" } }, done: { final: "success" } },
});
const mail = job("mail", { payload: z.object({ to: z.string() }), run: () => {} });

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape.
type Document = any;

let t: TestPawl;
let app: Hono;
let document: Document;
const token = "0123456789abcdef";
const ask = (path: string, init: RequestInit = {}) =>
  app.request(path, { ...init, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } });
beforeAll(async () => {
  t = await testPawl({ lifecycles: [order, plain, mail] });
  app = httpApp(t.pawl, { token });
  document = await (await ask("/api/openapi.json?lifecycles=true")).json();
});
afterAll(() => t[Symbol.asyncDispose]());

const schemaOf = (path: string, method = "post") =>
  document.paths[path][method].requestBody.content["application/json"].schema;

test("each lifecycle has operations of its own, with its data, states, events and payloads", () => {
  const { schemas } = document.components;
  expect(schemas["order.State"].enum).toEqual(["open", "packing", "done", "failed", "discarded"]);
  expect(schemas["order.Event"].enum.toSorted()).toEqual([
    ...["closed", "discard", "fail", "noted", "packed", "paid", "recover", "restart"],
  ]);
  expect(schemas["order.Instance"].properties).toMatchObject({
    lifecycle: { enum: ["order"] },
    state: { $ref: "#/components/schemas/order.State" },
    data: { $ref: "#/components/schemas/order.Data" },
  });
  expect(schemas["order.NewData"].required).toEqual(["address"]);
  expect(schemas["order.Data"].required).toEqual(["address", "items"]);
  expect(schemaOf("/api/lifecycles/order/instances").required).toEqual(["data"]);
  expect(schemaOf("/api/lifecycles/plain-one/instances").required).toBeUndefined();
  const paid = schemaOf("/api/lifecycles/order/keys/{key}/events/paid");
  expect([paid.required, paid.properties.payload]).toEqual([
    ["payload"],
    { $ref: "#/components/schemas/order.payload.paid" },
  ]);
  expect(schemaOf("/api/lifecycles/order/keys/{key}/events/noted").required).toBeUndefined();
  expect(schemaOf("/api/lifecycles/order/keys/{key}/events/closed").properties.payload).toBeUndefined();
  expect(document.paths["/api/lifecycles/order/keys/{key}/callbacks/fail"]).toBeUndefined();
  expect(document.paths["/api/lifecycles/order/keys/{key}/callbacks/paid"]).toBeDefined();
  expect(schemaOf("/api/jobs/mail").properties.payload).toEqual({ $ref: "#/components/schemas/mail.NewData" });
});

test("every reference leads somewhere, and no operation has the name of another", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map(([, path]) => path!);
  for (const path of new Set(references)) {
    const found = path
      .split("/")
      .slice(1)
      .reduce((one, key) => one?.[key], document);
    expect([path, found === undefined]).toEqual([path, false]);
  }
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const operations = Object.values(document.paths).flatMap((one: any) => Object.values(one)) as any[];
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { parameters = [] } of operations.filter(({ tags }) => tags[0] === "order"))
    for (const one of parameters) expect(["lifecycle", "event"]).not.toContain(one.name);
});

test("what is sent and answered follows these schemas", async () => {
  const ajv = new Ajv2020({ strict: false, formats: { "date-time": true, uuid: true } });
  ajv.addSchema(document, "document");
  const follows = (title: string) => ajv.compile({ $ref: `document#/components/schemas/${title}` });
  const data = { address: { street: "Elm 3", within: { street: "Oak" } } };
  expect(follows("order.NewData")(data)).toBe(true);
  expect(follows("order.NewData")({ address: { street: "Elm 3", within: {} } })).toBe(false);
  const post = async (path: string, body: unknown): Promise<Document> =>
    (await ask(path, { method: "POST", body: JSON.stringify(body) })).json();
  const started = await post("/api/lifecycles/order/instances", { key: "o", data });
  expect([follows("order.Started")(started), started.data.items]).toEqual([true, 1]);
  const payload = { sum: 7, currency: "EUR" };
  expect(follows("order.payload.paid")(payload)).toBe(true);
  const moved = await post("/api/lifecycles/order/keys/o/events/paid", { payload });
  expect([follows("order.Instance")(moved), moved.state]).toEqual([true, "packing"]);
  expect(follows("order.Instance")({ ...moved, state: "lost" })).toBe(false);
});

test("definitions are shown to those who may read, and the routes to everybody", async () => {
  expect((await app.request("/api/openapi.json?lifecycles=true")).status).toBe(401);
  const open = await app.request("/api/openapi.json");
  expect(open.status).toBe(200);
  expect(await open.text()).not.toContain("order.Data");
});
