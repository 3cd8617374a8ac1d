import type { Command } from "commander";
import { PawlError } from "../../../base/errors.ts";
import type { Act } from "../../program.ts";

const examples = `
Examples:
  pawl openapi > pawl.json
  pawl openapi --server https://pawl.example.com
  pawl openapi --lifecycles > pawl.json
`;

/** Prints the OpenAPI document of this version. Connects to nothing. */
export function addOpenapi(program: Command, act: Act): void {
  program
    .command("openapi")
    .description("print the OpenAPI 3.1 document of the HTTP API")
    .option("--server <url>", "base URL of the API (default: the host that serves the document)")
    .option("--lifecycles", "add operations with the data, states, events and payloads of each lifecycle of the config")
    .addHelpText("after", examples)
    .action(
      act<{ server?: string; lifecycles?: boolean }>(async ({ terminal, flags, env, cwd }, given) => {
        const { server = "", lifecycles = false } = given;
        if (server !== "" && !URL.canParse(server))
          throw new PawlError("option_invalid", "`--server` must be a URL, such as https://pawl.example.com.");
        const { openapi } = await import("../../../http/api/openapi.ts");
        const { findConfig, loadConfig } = await import("../../project/load-config.ts");
        const { missingConfig } = await import("../../project/settings.ts");
        const path = lifecycles ? (findConfig(flags.config ?? env.PAWL_CONFIG, cwd) ?? missingConfig(cwd)) : undefined;
        const declared = path === undefined ? [] : (await loadConfig(path)).lifecycles;
        terminal.print(JSON.stringify(openapi(server.replace(/\/+$/, ""), declared), null, 2));
        return undefined;
      }),
    );
}
