import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { encoded, signAws } from "./aws-signature.ts";

// The examples of the S3 documentation, "Authenticating Requests (AWS Signature Version 4)".
const signer = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
  service: "s3",
};
const at = new Date("2013-05-24T00:00:00Z");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const signature = (method: string, path: string, headers: Record<string, string>, body = "") =>
  signAws(
    signer,
    { method, url: new URL(path, "https://examplebucket.s3.amazonaws.com"), headers, bodySha256: sha256(body) },
    at,
  ).authorization!.split("Signature=")[1];

test("requests are signed as the published examples are", () => {
  expect(signature("GET", "/test.txt", { range: "bytes=0-9" })).toBe(
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
  const put = { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" };
  expect(signature("PUT", `/${encoded("test$file.text")}`, put, "Welcome to Amazon S3.")).toBe(
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  );
  expect(signature("GET", "/?lifecycle", {})).toBe("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  expect(signature("GET", "/?max-keys=2&prefix=J", {})).toBe(
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});

test("a session's token is part of what is signed", () => {
  const request = { method: "GET", url: new URL("https://b.example/"), headers: {}, bodySha256: sha256("") };
  expect(signAws({ ...signer, sessionToken: "t" }, request, at)).toMatchObject({
    "x-amz-security-token": "t",
    authorization: expect.stringContaining("x-amz-date;x-amz-security-token"),
  });
});
