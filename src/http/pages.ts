import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { gzipSync } from "node:zlib";
import type { Context, Hono } from "hono";
import { messageOf, PawlError } from "../base/errors.ts";

/** The folder of the built pages: next to the built package, or in `dist/` when running from source. */
const built = new URL(import.meta.url.endsWith(".ts") ? "../../dist/console/" : "../console/", import.meta.url);

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** The pages of the console; each is drawn in the browser by the one page that is sent. */
const places = [
  "/",
  "/sign-in",
  "/lifecycles/*",
  "/instances/*",
  "/dead/*",
  "/people/*",
  "/crowds/*",
  "/workers",
  "/breakers",
  "/outbox",
  "/schedules",
  "/operations",
  "/access",
];

const policyFor = (media: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: ${media}`,
    `media-src 'self' data: ${media}`,
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

export interface PagesOptions {
  /** Where all of it is mounted; empty for the root. */
  readonly base: string;
  /** The folder of the built pages. */
  readonly folder?: URL | undefined;
  readonly mediaSources?: readonly string[] | undefined;
}

/** Serves the console and the desk. They ask nothing of any other host, and run no script but their own. */
export function mountPages(app: Hono, { base, folder = built, mediaSources = ["https:"] }: PagesOptions): void {
  const policy = policyFor(checkedSources(mediaSources).join(" "));
  const files = new Files(folder);
  const show = (name: string) => (context: Context) => {
    context.header("content-security-policy", policy);
    context.header("cross-origin-opener-policy", "same-origin");
    return context.html(files.page(name).replace('<base href="/">', `<base href="${base}/">`));
  };
  for (const place of places) app.get(place, show("index.html"));
  // Mounted below a path, the root of the app has two names, of which a router knows one.
  app.get("/*", (context, next) => (context.req.path === `${base}/` ? show("index.html")(context) : next()));
  // A browser that asks for a page which does not exist gets the one that says so; every other client a problem.
  app.get("/*", (context, next) => {
    const isElsewhere = /^\/(?:api|assets|callbacks|desk|docs)(?:\/|$)/.test(context.req.path.slice(base.length));
    if (isElsewhere || context.req.header("accept")?.includes("text/html") !== true) return next();
    context.status(404);
    return show("index.html")(context);
  });
  for (const place of ["/desk", "/desk/*"]) app.get(place, show("desk.html"));
  app.get("/docs", show("docs.html"));
  app.get("/assets/:file", async (context) => {
    const asset = await files.asset(context.req.param("file"));
    return asset === undefined ? context.notFound() : sendAsset(context, asset);
  });
}

/** A source such as `https://cdn.example.com`; anything else could end the directive and begin another. */
function checkedSources(given: readonly string[]): readonly string[] {
  const isSource = (one: unknown) =>
    typeof one === "string" && /^(?:https?:|(?:https?:\/\/)?[\w*.-]+(?::\d+)?(?:\/[\w./-]*)?)$/.test(one);
  if (Array.isArray(given) && given.every(isSource)) return given;
  throw new PawlError(
    "option_invalid",
    "`http.mediaSources` must be a list of sources such as https://cdn.example.com.",
  );
}

interface Asset {
  readonly type: string;
  readonly plain: Buffer<ArrayBuffer>;
  readonly packed: Buffer<ArrayBuffer>;
}

/** Their names change with their content, so browsers cache them permanently. */
function sendAsset(context: Context, { type, plain, packed }: Asset): Response {
  const packs = /\bgzip\b/.test(context.req.header("accept-encoding") ?? "");
  return context.body(packs ? packed : plain, 200, {
    "content-type": type,
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
    ...(packs ? { "content-encoding": "gzip" } : {}),
  });
}

/** The built files, each read once. */
class Files {
  readonly #folder: URL;
  readonly #pages = new Map<string, string>();
  #assets: Promise<ReadonlyMap<string, Asset>> | undefined;

  constructor(folder: URL) {
    this.#folder = folder;
  }

  page(name: string): string {
    const known = this.#pages.get(name);
    if (known !== undefined) return known;
    try {
      const html = readFileSync(new URL(name, this.#folder), "utf8");
      this.#pages.set(name, html);
      return html;
    } catch (error) {
      throw notBuilt(error);
    }
  }

  async asset(name: string): Promise<Asset | undefined> {
    this.#assets ??= this.#readAssets();
    try {
      return (await this.#assets).get(name);
    } catch (error) {
      this.#assets = undefined; // The next request reads them again.
      throw notBuilt(error);
    }
  }

  /** All of them at once: a request names one of these files, and can name no other. */
  async #readAssets(): Promise<ReadonlyMap<string, Asset>> {
    const found = new Map<string, Asset>();
    const folder = new URL("assets/", this.#folder);
    for (const name of await readdir(folder)) {
      const type = types[extname(name)];
      if (type === undefined) continue;
      const plain = (await readFile(new URL(name, folder))) as Buffer<ArrayBuffer>;
      found.set(name, { type, plain, packed: gzipSync(plain, { level: 9 }) as Buffer<ArrayBuffer> });
    }
    return found;
  }
}

function notBuilt(error: unknown): PawlError {
  const message = `The console is not built: ${messageOf(error)}. Run \`npm run build\` in Pawl's folder.`;
  return new PawlError("not_available", message, {}, { cause: error });
}
