import { expect, test } from "vitest";
import { TransientError } from "../../../base/step-errors.ts";
import { bornAt, mayPrecede } from "./hit/born.ts";
import { idsIn } from "./hit/publish.ts";
import { Refused, whatFailed } from "./refused.ts";

/** As the SDK throws it. */
function thrown(message: string, { name = "RequestError", status = 400, code = undefined as string | undefined } = {}) {
  const told = { name, TurkErrorCode: code, $metadata: { httpStatusCode: status } };
  return Object.assign(new Error(message), told);
}

const refusals: readonly (readonly [code: string | undefined, message: string, known: string])[] = [
  ["AWS.MechanicalTurk.HitAlreadyExists", "?", "HitAlreadyExists"],
  ["AWS.MechanicalTurk.HITAlreadyExists", "?", "HitAlreadyExists"],
  [undefined, "Hit 311HQEI8RSPHPKL05J2BY6UEZVE7Z0 does not exist. (1657421793250 s)", "HITDoesNotExist"],
  ["AWS.MechanicalTurk.InvalidParameterValue", "Assignment 3X does not exist.", "AssignmentDoesNotExist"],
  [undefined, 'The idempotency token "3VJ4Wed Jul 14" has already been processed. (1626172412406)', "TokenUsed"],
  [undefined, "This operation can be called with a status of: Submitted (1)", "InvalidAssignmentState"],
  [
    undefined,
    "This HIT is currently in the state 'Reviewable'. This operation can be called with a status of: Reviewing (1)",
    "InvalidHITState",
  ],
  ["AWS.NotAuthorized", "?", "NotAuthorized"],
  ["AWS.MechanicalTurk.SomethingNew", "?", "SomethingNew"],
  [undefined, "Something new.", ""],
];
test.each(refusals)("a refusal is told by its code %s, or by its text: %s", (code, message, known) => {
  const refused = whatFailed(thrown(message, { code }), "do it");
  expect(refused).toBeInstanceOf(Refused);
  expect((refused as Refused).code).toBe(known);
  expect(refused.message).toContain(message);
});

test("a refusal that somebody can mend says how", () => {
  const refused = whatFailed(thrown("No.", { code: "AWS.MechanicalTurk.InsufficientFunds" }), "create the HIT");
  expect(refused.message).toBe(
    "Mechanical Turk refused to create the HIT: No. (InsufficientFunds). Add prepaid balance to the requester's account, then retry it.",
  );
});

const passing: readonly unknown[] = [
  thrown("Rate exceeded", { name: "ThrottlingException" }),
  thrown("Rate exceeded", { name: "MTurkServiceException" }),
  thrown("Try again.", { name: "ServiceFault", status: 500 }),
  thrown("The security token is expired", { name: "ExpiredTokenException" }),
  Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
  Object.assign(new Error("Could not load credentials from any providers"), { name: "CredentialsProviderError" }),
  "a text",
  undefined,
];
test.each(passing)("what is no refusal may pass: %o", (error) => {
  expect(whatFailed(error, "do it")).toBeInstanceOf(TransientError);
});

test("the id of a HIT is found in a sentence, and a time is not taken for one", () => {
  const id = "3VJ4PFXFJ5VXUC3I783DUQKOMF2UAW";
  expect(idsIn(`The HIT "${id}" already exists (1626172412406123456)`)).toEqual([id]);
  expect(idsIn("It exists.")).toEqual([]);
});

test("an id tells what it may have been there for", () => {
  const id = "0194a000-0000-7000-8000-000000000000";
  const born = 0x0194a0000000;
  expect(bornAt(id)).toBe(born);
  expect(bornAt(`${id}:paying:1`)).toBe(born);
  expect([born, born - 3_600_000, born - 3_600_001].map((time) => mayPrecede(id, time))).toEqual([true, true, false]);
  expect(mayPrecede(id.replace("-7", "-4"), 0)).toBe(true);
  expect(mayPrecede("receipt-1", 0)).toBe(true);
});
