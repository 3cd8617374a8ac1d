import { expect, test } from "vitest";
import { translate } from "./failures.ts";

test("a connection that is lost in the middle of a statement leaves its outcome unknown, in whichever words", () => {
  for (const code of ["EPIPE", "ECONNRESET", "57P01", "57P02", "57P05", "25P03", undefined]) {
    const failure = Object.assign(new Error("gone"), { code });
    expect(translate(failure, "running")).toMatchObject({ code: "outcome_unknown" });
    expect(translate(failure, "connecting")).toMatchObject({ code: "database_unreachable" });
  }
});
