import { createHash, createHmac } from "node:crypto";

/** Who asks, and for which region and service the signature holds. */
export interface Signer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
  readonly service: string;
}

/** A request before it is signed. Its path is encoded as it is sent. */
export interface Unsigned {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The SHA-256 of the body, in hex. */
  readonly bodySha256: string;
}

const algorithm = "AWS4-HMAC-SHA256";

/** The headers of a request, signed as AWS Signature Version 4 has it. `at` is the present moment. */
export function signAws(signer: Signer, request: Unsigned, at: Date): Record<string, string> {
  const moment = at.toISOString().replace(/[-:]|\.\d+/g, "");
  const day = moment.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.url.host,
    "x-amz-content-sha256": request.bodySha256,
    "x-amz-date": moment,
    ...(signer.sessionToken !== undefined && { "x-amz-security-token": signer.sessionToken }),
  };
  const sorted = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/\s+/g, " ")] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const signed = sorted.map(([name]) => name).join(";");
  const canonical = [
    request.method,
    request.url.pathname,
    queryOf(request.url),
    ...sorted.map(([name, value]) => `${name}:${value}`),
    "",
    signed,
    request.bodySha256,
  ].join("\n");
  const scope = `${day}/${signer.region}/${signer.service}/aws4_request`;
  const text = [algorithm, moment, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  let key: Buffer = Buffer.from(`AWS4${signer.secretAccessKey}`);
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  const signature = createHmac("sha256", key).update(text).digest("hex");
  const authorization = `${algorithm} Credential=${signer.accessKeyId}/${scope},SignedHeaders=${signed},Signature=${signature}`;
  return { ...headers, authorization };
}

function queryOf({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join("&");
}

/** As AWS encodes: everything but letters, digits and four marks. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
