import { expect, test } from "vitest";
import { logAlerts } from "./log-alerts.ts";
import { type Alert, sinksOf } from "./sink.ts";
import { webhookAlerts } from "./webhook-alerts.ts";

const send = () => {};

test("a sink is an object with a name of its own, or a function", () => {
  const mail = (_alert: Alert) => {};
  expect(sinksOf(undefined)).toEqual([]);
  expect(sinksOf([{ name: "a", send }, mail, () => {}]).map((one) => one.name)).toEqual(["a", "mail#1", "function#2"]);
});

test.each([
  [{}],
  [[{}]],
  [[{ name: "", send }]],
  [
    [
      { name: "a", send },
      { name: "a", send },
    ],
  ],
  [["mail"]],
  [[null]],
])("%j is refused", (alerts) =>
  expect(() => sinksOf(alerts)).toThrow(expect.objectContaining({ code: "option_invalid" })),
);

test("a webhook needs a place that it may go to, and secrets; a log what a log has", () => {
  expect(() => webhookAlerts({ url: "https://example.com", secrets: ["short"] })).toThrow("whsec_");
  expect(() => webhookAlerts({ url: "https://example.com", secrets: [] })).toThrow("secrets");
  expect(() => webhookAlerts({ url: "http://10.0.0.1", secrets: [`whsec_${"A".repeat(43)}=`] })).toThrow(
    "are not allowed",
  );
  expect(() => logAlerts({} as never)).toThrow("pino");
});

test("an alert is one line of a log, with all that is known", () => {
  const lines: [object, string][] = [];
  const log = {
    debug: send,
    info: send,
    warn: send,
    error: (fields: object, message: string) => lines.push([fields, message]),
  };
  const alert: Alert = {
    id: "i",
    cause: "c",
    kind: "instance_failed",
    lifecycle: "essay",
    instanceId: "e",
    key: null,
    message: "It failed.",
    details: { failures: 3 },
    at: new Date(0),
  };
  logAlerts(log).send(alert);
  expect(lines).toEqual([
    [
      {
        id: "i",
        cause: "c",
        kind: "instance_failed",
        lifecycle: "essay",
        instanceId: "e",
        key: null,
        details: { failures: 3 },
        at: "1970-01-01T00:00:00.000Z",
      },
      "It failed.",
    ],
  ]);
});
