import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface S3Server {
  readonly url: string;
  /** The received session tokens, each signed. */
  readonly sessionTokens: Set<string>;
  /** The content of the bucket. */
  readonly objects: Map<string, Buffer>;
  /** The next responses, instead of the regular ones: a status, or silence. */
  readonly faults: (number | "silence" | "forget")[];
  /** Connections are refused until it is restored. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

export const s3Keys = { accessKeyId: "test-key", secretAccessKey: "test-secret" };
const bucket = "letters";

/**
 * A server with the part of S3 that an archive needs, which trusts no request: each must be signed by Signature Version
 * 4, over its headers and body.
 */
export async function startS3(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const sessionTokens = new Set<string>();
  const faults: S3Server["faults"] = [];
  const server = createServer((request, response) => {
    const token = request.headers["x-amz-security-token"];
    if (token !== undefined) sessionTokens.add(String(token));
    void answer(request, response, objects, faults);
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    objects,
    sessionTokens,
    faults,
    goAway: close,
    comeBack: () => listen(port),
    stop: close,
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  objects: Map<string, Buffer>,
  faults: S3Server["faults"],
): Promise<void> {
  const body = await buffer(request);
  const end = (status: number, content: string | Buffer = "") => void response.writeHead(status).end(content);
  const refuse = (status: number, code: string) => end(status, `<Error><Code>${code}</Code></Error>`);
  const fault = faults.shift();
  if (fault === "silence") return;
  if (typeof fault === "number") return refuse(fault, "SlowDown");
  const [path = "", query = ""] = request.url!.split("?");
  const wrong = signatureFault(request, path, query, body);
  if (wrong !== undefined) return refuse(403, wrong);
  if (path !== `/${bucket}/` && !path.startsWith(`/${bucket}/`)) return refuse(404, "NoSuchBucket");
  const key = decodeURIComponent(path.slice(bucket.length + 2));
  if (request.method === "PUT") {
    if (fault !== "forget") objects.set(key, body);
    return end(200);
  }
  if (key === "") return end(200, listing(objects, new URLSearchParams(query)));
  const found = objects.get(key);
  return found === undefined ? refuse(404, "NoSuchKey") : end(200, found);
}

/** Two at a time, so that a list has several pages. */
function listing(objects: Map<string, Buffer>, query: URLSearchParams): string {
  const keys = [...objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "")).sort();
  const from = Number(query.get("continuation-token") ?? 0);
  const more = from + 2 < keys.length ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : "";
  const contents = keys
    .slice(from, from + 2)
    .map((key) => `<Contents><Key>${key.replaceAll("&", "&amp;")}</Key></Contents>`);
  return `<?xml version="1.0"?><ListBucketResult>${contents.join("")}${more}</ListBucketResult>`;
}

function signatureFault(request: IncomingMessage, path: string, query: string, body: Buffer): string | undefined {
  const sha256 = createHash("sha256").update(body).digest("hex");
  if (request.headers["x-amz-content-sha256"] !== sha256) return "XAmzContentSHA256Mismatch";
  const date = String(request.headers["x-amz-date"]);
  const moment = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(Date.now() - moment) < 15 * 60_000)) return "RequestTimeTooSkewed";
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/[\w-]+\/s3\/aws4_request), ?SignedHeaders=([\w;-]+), ?Signature=(\w+)$/;
  const [, key, scope, signed, signature] = form.exec(request.headers.authorization ?? "") ?? [];
  if (key !== s3Keys.accessKeyId) return "InvalidAccessKeyId";
  const token = request.headers["x-amz-security-token"] === undefined ? [] : ["x-amz-security-token"];
  for (const name of ["host", "x-amz-date", "x-amz-content-sha256", ...token])
    if (!signed!.split(";").includes(name)) return "AccessDenied";
  const headers = signed!.split(";").map((name) => `${name}:${String(request.headers[name])}\n`);
  const canonical = [request.method, path, query.split("&").sort().join("&"), headers.join(""), signed, sha256].join(
    "\n",
  );
  const text = ["AWS4-HMAC-SHA256", date, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  let secret: Buffer | string = `AWS4${s3Keys.secretAccessKey}`;
  for (const part of scope!.split("/")) secret = createHmac("sha256", secret).update(part).digest();
  return createHmac("sha256", secret).update(text).digest("hex") === signature ? undefined : "SignatureDoesNotMatch";
}
