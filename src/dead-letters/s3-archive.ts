import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { type Duration, durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { checkedOptions, optionNames } from "../base/options.ts";
import { readXml, type XmlElement } from "../base/xml.ts";
import type { DeadLetterArchive } from "./archive.ts";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface S3ArchiveOptions {
  readonly bucket: string;
  /**
   * The region of the bucket.
   * @default "us-east-1"
   */
  readonly region?: string;
  /**
   * The URL of another service with the S3 API, such as `https://minio.internal:9000`.
   * @default AWS in the region
   */
  readonly endpoint?: string;
  /** Before the names of all files, such as `"pawl/"`. */
  readonly prefix?: string;
  /**
   * The keys, or a function that fetches them for each request. Defaults to the environment variables
   * `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
   */
  readonly credentials?: S3Credentials | (() => S3Credentials | Promise<S3Credentials>);
  /**
   * The timeout of a request.
   * @default "30s"
   */
  readonly timeout?: Duration;
  readonly name?: string;
}

const known = optionNames<S3ArchiveOptions>({
  bucket: true,
  region: true,
  endpoint: true,
  prefix: true,
  credentials: true,
  timeout: true,
  name: true,
});

/**
 * Archives dead letters in a bucket of S3, or of a service with the same API.
 *
 * ```ts
 * import { createPawl } from "pawl";
 * import { s3Archive } from "pawl/s3";
 * createPawl({ lifecycles, deadLetters: { archive: s3Archive({ bucket: "essays-archive", region: "eu-central-1" }) } });
 * ```
 */
export function s3Archive(options: S3ArchiveOptions): DeadLetterArchive {
  const { region = "us-east-1", prefix = "" } = checkedOptions(options, known, "s3Archive");
  const base = bucketUrl(options, region);
  const timeoutMs = durationMs(options.timeout ?? "30s", "timeout");

  const ask = async (method: string, url: URL, body?: Uint8Array): Promise<Response> => {
    const bodySha256 = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    const signer = new AwsV4Signer({
      ...(await credentialsOf(options)),
      region,
      service: "s3",
      method,
      url: url.href,
      headers: { "x-amz-content-sha256": bodySha256 },
    });
    const signed = await signer.sign();
    const answer = await fetch(signed.url, {
      method,
      headers: signed.headers,
      ...(body !== undefined && { body: new Uint8Array(body) }),
      redirect: "manual", // The signature is for this address alone.
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.ok) return answer;
    const code = textIn(readXml(await answer.text())?.inside ?? [], "Code") ?? "";
    const because = /^[\w.]{1,100}$/.test(code) ? ` ${code}` : "";
    throw new Error(`${method} of ${url.pathname} failed with status ${answer.status}${because}.`);
  };
  const urlOf = (name: string) => new URL(`${base}/${`${prefix}${name}`.split("/").map(encoded).join("/")}`);

  return {
    name: options.name ?? `s3 ${options.bucket}`,
    write: async (name, content) => void (await (await ask("PUT", urlOf(name), content)).arrayBuffer()),
    read: async (name) => Buffer.from(await (await ask("GET", urlOf(name))).arrayBuffer()),
    async list() {
      const names: string[] = [];
      for (let token: string | undefined, more = true; more; more = token !== undefined) {
        const url = new URL(`${base}/?list-type=2&prefix=${encoded(prefix)}`);
        if (token !== undefined) url.search += `&continuation-token=${encoded(token)}`;
        const page = readXml(await (await ask("GET", url)).text());
        if (page?.name !== "ListBucketResult")
          throw new Error(`GET of ${url.pathname} did not return a list of files.`);
        for (const { name, inside } of page.inside) {
          if (name === "Contents") names.push((textIn(inside, "Key") ?? "").slice(prefix.length));
        }
        token = textIn(page.inside, "NextContinuationToken") || undefined;
      }
      return names;
    },
  };
}

/** With the bucket in the path: every service that speaks S3 understands that, and names with dots have no certificate. */
function bucketUrl(options: S3ArchiveOptions, region: string): string {
  const { bucket, endpoint = `https://s3.${region}.amazonaws.com` } = options ?? {};
  if (typeof bucket !== "string" || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new PawlError("option_invalid", "`s3Archive` needs `bucket`, the name of a bucket.");
  }
  if (!/^[a-z0-9-]+$/.test(region))
    throw new PawlError("option_invalid", "`region` must be a region such as eu-central-1.");
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new PawlError("option_invalid", "`endpoint` must be a URL such as https://minio.internal:9000.");
  }
  return `${new URL(endpoint).href.replace(/\/$/, "")}/${bucket}`;
}

async function credentialsOf({ credentials }: S3ArchiveOptions): Promise<S3Credentials> {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  const given = (typeof credentials === "function" ? await credentials() : credentials) ?? {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    sessionToken: AWS_SESSION_TOKEN,
  };
  const { accessKeyId, secretAccessKey, sessionToken } = given;
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, sessionToken };
  throw new PawlError(
    "option_invalid",
    "`s3Archive` has no credentials. Pass `credentials`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
  );
}

function textIn(elements: readonly XmlElement[], name: string): string | undefined {
  return elements.find((element) => element.name === name)?.text;
}

/** As S3 encodes: everything but letters, digits and four marks. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
