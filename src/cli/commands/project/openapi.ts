import type { Command } from "commander";
import { PawlError } from "../../../base/errors.ts";
import type { Act } from "../../program.ts";

const examples = `
Examples:
  pawl openapi > pawl.json
  pawl openapi --server https://pawl.example.com
`;

/** Prints the OpenAPI document of this version. Connects to nothing. */
export function addOpenapi(program: Command, act: Act): void {
  program
    .command("openapi")
    .description("print the OpenAPI 3.1 document of the HTTP API")
    .option("--server <url>", "base URL of the API (default: the host that serves the document)")
    .addHelpText("after", examples)
    .action(
      act<{ readonly server?: string }>(async ({ terminal }, { server = "" }) => {
        if (server !== "" && !URL.canParse(server))
          throw new PawlError("option_invalid", "`--server` must be a URL, such as https://pawl.example.com.");
        const { openapi } = await import("../../../http/api/openapi.ts");
        terminal.print(JSON.stringify(openapi(server.replace(/\/+$/, "")), null, 2));
        return undefined;
      }),
    );
}
