import type { PawlConfig } from "../config.ts";
import type { HttpServer } from "../http/serve.ts";
import type { Pawl } from "../pawl.ts";

/** Answers over HTTP where the config says so. What it takes for that is loaded only then. */
export async function serveIfAsked(pawl: Pawl, { http }: Pick<PawlConfig, "http">): Promise<HttpServer | undefined> {
  if (http === undefined) return undefined;
  const { serveHttp } = await import("../http/serve.ts");
  return serveHttp(pawl, http);
}
