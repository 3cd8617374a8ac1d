import { fileURLToPath } from "node:url";
import { createServer, createServerModuleRunner, type ViteDevServer } from "vite";
import * as errors from "../../../src/base/errors.ts";
import type * as Simulator from "../run.ts";

/** What is written differently in which file of `src`. */
export interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const errorsFile = `${root}src/base/errors.ts`;
const sharedErrors = "__errorsOfTheHost";

/**
 * Loads the simulator over sources that are changed on their way into memory; the files stay as they are. Databases are
 * borrowed from the host, so the class of errors is the host's, too.
 */
export class EngineLoader {
  readonly #server: ViteDevServer;
  readonly #patches: Map<string, readonly Patch[]>;

  private constructor(server: ViteDevServer, patches: Map<string, readonly Patch[]>) {
    this.#server = server;
    this.#patches = patches;
  }

  static async open(): Promise<EngineLoader> {
    Object.assign(globalThis, { [sharedErrors]: errors });
    const patches = new Map<string, readonly Patch[]>();
    const server = await createServer({
      root,
      configFile: false,
      logLevel: "error",
      appType: "custom",
      server: { middlewareMode: true, hmr: false, ws: false, watch: null },
      optimizeDeps: { noDiscovery: true, include: [] },
      resolve: { alias: [{ find: /^pawl$/, replacement: `${root}src/index.ts` }] },
      plugins: [
        {
          name: "patch",
          enforce: "pre",
          load: (id) => (id === errorsFile ? reexported() : undefined),
          transform: (code, id) => {
            const found = patches.get(id);
            return found === undefined ? undefined : { code: found.reduce(patched, code), map: null };
          },
        },
      ],
    });
    return new EngineLoader(server, patches);
  }

  /** Runs `work` with a simulator whose engine has these patches. Throws when one does not fit the sources any more. */
  async with<T>(patches: readonly Patch[], work: (simulator: typeof Simulator) => Promise<T>): Promise<T> {
    const files = new Set(patches.map(({ file }) => `${root}${file}`));
    for (const file of files)
      this.#patches.set(
        file,
        patches.filter((one) => `${root}${one.file}` === file),
      );
    this.#forget(files);
    const runner = createServerModuleRunner(this.#server.environments.ssr, { hmr: false });
    try {
      return await work(await runner.import<typeof Simulator>(`${root}test/simulation/run.ts`));
    } finally {
      await runner.close();
      this.#patches.clear();
      this.#forget(files);
    }
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #forget(files: ReadonlySet<string>): void {
    const { moduleGraph } = this.#server.environments.ssr;
    for (const file of files)
      for (const module of moduleGraph.getModulesByFile(file) ?? []) moduleGraph.invalidateModule(module);
  }
}

function patched(code: string, { file, from, to }: Patch): string {
  if (!code.includes(from)) throw new Error(`${file} does not contain what is to be broken any more: ${from}`);
  return code.replaceAll(from, to);
}

function reexported(): string {
  const names = Object.keys(errors).map((name) => `export const ${name} = host.${name};`);
  return [`const host = globalThis.${sharedErrors};`, ...names].join("\n");
}
