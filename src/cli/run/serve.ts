import type { HttpConfig, PawlConfig } from "../../api/open/config.ts";
import type { Pawl } from "../../api/pawl.ts";
import { isPawlError, PawlError } from "../../base/errors.ts";
import type { HttpServer } from "../../http/serve.ts";
import { nonEmpty } from "../project/settings.ts";

/** Serves HTTP if the config says so. The modules for it are loaded only then. */
export async function serveIfConfigured(
  pawl: Pawl,
  { http }: Pick<PawlConfig, "http">,
): Promise<HttpServer | undefined> {
  if (http === undefined || http === false) return undefined;
  const { serveHttp } = await import("../../http/serve.ts");
  return serveHttp(pawl, http);
}

/** The number of ports to try if none was requested. */
const tries = 20;

/** Serves HTTP unless the config disables it; if its port is in use and was not requested, at the next free one. */
export async function serveUnlessForbidden(
  pawl: Pawl,
  { http }: Pick<PawlConfig, "http">,
  wanted: number | undefined,
): Promise<HttpServer | undefined> {
  if (http === false) return undefined;
  const { serveHttp, standardPort } = await import("../../http/serve.ts");
  const options: HttpConfig = { ...http, port: wanted ?? http?.port };
  if (options.port !== undefined) return serveHttp(pawl, options);
  for (let port = standardPort; ; port++) {
    try {
      return await serveHttp(pawl, { ...options, port });
    } catch (error) {
      if (!isTaken(error) || port === standardPort + tries) throw error;
    }
  }
}

/** The port of a flag or `PAWL_PORT`; an invalid one is refused before anything is opened. */
export function requestedPort(flag: string | undefined, env: NodeJS.ProcessEnv): number | undefined {
  const text = flag ?? nonEmpty(env.PAWL_PORT);
  return text === undefined ? undefined : portOf(text);
}

export function portOf(given: string): number {
  const port = Number(given);
  if (given.trim() !== "" && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new PawlError(
    "option_invalid",
    `The port must be a whole number from 0 to 65,535; it is ${JSON.stringify(given)}.`,
  );
}

function isTaken(error: unknown): boolean {
  return isPawlError(error) && (error.cause as { code?: unknown } | undefined)?.code === "EADDRINUSE";
}
