import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Modules } from "./package/exports.ts";
import { unnamed } from "./package/unnamed-types.ts";
import { entries } from "./setup/entries.ts";
import { findTypescript } from "./setup/find-typescript.ts";

const root = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
let packed: string[];

beforeAll(() => {
  run("npm", ["run", "--silent", "build"]);
  const [listing] = JSON.parse(run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"]));
  packed = listing.files.map((file: { path: string }) => file.path);
});

/** Gives back what the command printed; when it fails, the error carries all of it. */
function run(program: string, args: readonly string[], timeout = 60_000): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8", timeout });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout;
}

test("the package holds what users need, and nothing else", () => {
  const wanted =
    /^(?:dist\/.*\.(?:js|d\.ts|js\.map|d\.ts\.map)|dist\/console\/(?:\w+\.html|assets\/[\w-]+\.(?:js|css|svg))|dist\/store\/pglite\/new-database-\w+\.tar\.gz|src\/store\/migrations\/\d{4}_\w+\.sql|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;
  expect(packed.filter((path) => !wanted.test(path) || path.includes(".test."))).toEqual([]);
});

test("every door and command that the package promises is in it", () => {
  const promised = [...targetsOf(manifest.exports), ...targetsOf(manifest.bin)].map((path) => path.replace("./", ""));
  expect(promised.filter((path) => !packed.includes(path))).toEqual([]);
});

function targetsOf(entry: unknown): string[] {
  return typeof entry === "string" ? [entry] : Object.values(entry as object).flatMap(targetsOf);
}

test("every type that a user needs to name can be imported from where its function is, or from pawl", () => {
  const modules = new Modules(".d.ts");
  const doors = Object.entries(entries).map(
    ([entry, path]) =>
      [entry, modules.placesOf(join(root, path.replace("src/", "dist/").replace(".ts", ".d.ts")))] as const,
  );
  const [[, main]] = doors as [(typeof doors)[0]];
  const missing = doors.flatMap(([entry, own]) =>
    [...own]
      .flatMap((place) => [...modules.typesNamedAt(place)])
      .filter((place) => !own.has(place) && !main.has(place))
      .map((place) => `${entry} ${place.replace(`${root}/dist/`, "").replace(".d.ts#", " ")}`),
  );
  expect([...new Set(missing)].sort()).toEqual([...unnamed].sort());
});

describe("the tarball", () => {
  let folder: string;
  let tarball: Buffer;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "pawl-tarball-"));
    const [{ filename }] = JSON.parse(
      run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]),
    ) as [{ filename: string }];
    tarball = readFileSync(join(folder, filename));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("has no fault that publint finds", async () => {
    const { buffer, byteOffset, byteLength } = tarball;
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    const { messages, pkg } = await publint({ pack: { tarball: bytes }, level: "warning" });
    expect(messages.map((one) => formatMessage(one, pkg))).toEqual([]);
  });

  test("has types that are those of its code, for programs that are ES modules and for bundlers", async () => {
    const result = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
    const problems = (result.types === false ? [{ kind: "Untyped" }] : result.problems).filter((one) => {
      // The package has ES modules alone, and says so; a resolution without `exports` is that of Node 10.
      const kind = "resolutionKind" in one ? one.resolutionKind : undefined;
      return kind !== "node10" && kind !== "node16-cjs";
    });
    expect(problems).toEqual([]);
  }, 180_000);
});

test("nothing that comes with the package runs a script when it is installed", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const shipped = Object.entries<Record<string, boolean>>(packages).filter(
    ([, entry]) => !entry.dev && !entry.devOptional,
  );
  expect(shipped.filter(([, entry]) => entry.hasInstallScript).map(([path]) => path)).toEqual([]);
  expect(Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([]);
});

test("CI installs without running the install scripts of any package", () => {
  const commands = readFileSync(join(root, ".ci/run"), "utf8").match(/^npm (?:ci|install|i)\b.*$/gm);
  expect(commands).toEqual([expect.stringContaining("--ignore-scripts")]);
});

test("every package of the lock file is pinned by its hash, those of other platforms too", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const loose = Object.entries<{ integrity?: string }>(packages).filter(
    ([path, { integrity = "" }]) => path !== "" && !/^sha512-[\w+/]{86}==$/.test(integrity),
  );
  expect(loose.map(([path]) => path)).toEqual([]);
});

test("the list of what the package consists of can be made, and the package is published with its provenance", () => {
  const { bomFormat, components } = JSON.parse(run("npm", ["run", "--silent", "sbom"]));
  expect(bomFormat).toBe("CycloneDX");
  const names = components.map((one: { name: string }) => one.name);
  expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
  expect(manifest.publishConfig).toEqual({ access: "public", provenance: true });
});

test("what a small step of a version could break is pinned exactly", () => {
  const { dependencies, devDependencies } = manifest;
  const pinned = [dependencies["@electric-sql/pglite"], devDependencies.vitest, devDependencies["@vitest/coverage-v8"]];
  for (const version of pinned) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

/** What a user writes: it must compile, and the misspelt event must not. */
const program = `
import { createPawl, isPawlError, lifecycle } from "pawl";
import { type MturkNotification, mturk, mturkNotifications } from "pawl/mturk";
import { consume, rabbitmq } from "pawl/rabbitmq";
import * as testing from "pawl/testing";

const parcel = lifecycle("parcel", {
  initial: "packed",
  states: {
    packed: { forever: true, on: { shipped: "under_way" } },
    under_way: { timeout: { after: "10d", send: "lost" }, on: { arrived: "delivered", lost: "missing" } },
    delivered: { final: "success" },
    missing: { final: "failure" },
  },
});

export async function ship(key: string): Promise<string> {
  const url = "amqp://localhost";
  const pawl = await createPawl({ lifecycles: [parcel], outbox: { brokers: [rabbitmq({ url })] } });
  const consumer = consume({ url, queue: "parcels", handler: async ({ id }) => (id === undefined ? "reject" : "ack") });
  try {
    const moved = await pawl.send(parcel, key, "shipped");
    const state: "packed" | "under_way" | "delivered" | "missing" | "failed" | "discarded" = moved.state;
    // @ts-expect-error: there is no such event.
    await pawl.send(parcel, key, "shiped");
    return state;
  } catch (error) {
    return isPawlError(error, "transition_refused") ? error.message : "?";
  } finally {
    await consumer.stop();
    await pawl.close();
  }
}
export const names: string[] = Object.keys(testing);
export type Everything = [
  typeof import("pawl/formats"),
  typeof import("pawl/http"),
  typeof import("pawl/quality"),
  typeof import("pawl/s3"),
  typeof import("pawl/webhooks"),
];
export const quiet = createPawl({
  lifecycles: [parcel],
  logger: { level: "info", formatters: { level: (label) => ({ label }) }, mixin: () => ({}), redact: ["secret"] },
});
export async function using(): Promise<void> {
  await using pawl = await createPawl({ lifecycles: [parcel] });
  await pawl.ping();
}
export const crowds = { mturk: mturk({ question: ({ crowd }) => crowd.title }) };
export const told = (body: string): readonly MturkNotification[] => mturkNotifications(body);
`;

describe("a strict program that uses the package compiles", () => {
  let folder: string;

  /** As npm would lay it out: the package and its own dependencies, none of those that only we have. */
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "pawl-consumer-"));
    const modules = join(folder, "node_modules");
    for (const path of packed) cpSync(join(root, path), join(modules, "pawl", path));
    for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
    }
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "program.ts"), program);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("it runs without what is optional, and says what to install when that is used", () => {
    const script = `
      const { mturk } = await import("pawl/mturk");
      const { signal } = new AbortController();
      await mturk().balance({ signal }).catch((error) => console.log(error.message));
      const { rabbitmq } = await import("pawl/rabbitmq");
      await rabbitmq({ url: "amqp://localhost" }).publish({ body: "{}", type: "a" }).catch((error) => console.log(error.message));`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stdout + stderr).toContain("Install it: npm install @aws-sdk/client-mturk@3.");
    expect(stdout + stderr).toContain("Install it: npm install amqplib@2.");
  });

  describe("without the types of Node", () => {
    /** With all that npm brings along, and links as they are: what is beside our own packages is not found. */
    beforeAll(() => {
      const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
      const bare = join(folder, "bare");
      for (const path of packed) cpSync(join(root, path), join(bare, "node_modules/pawl", path));
      for (const [path, entry] of Object.entries<Record<string, boolean>>(packages)) {
        const isOurs = path === "" || path.startsWith("node_modules/@types/") || path.lastIndexOf("node_modules/") > 0;
        if (isOurs || entry.dev || entry.devOptional || !existsSync(join(root, path))) continue;
        mkdirSync(dirname(join(bare, path)), { recursive: true });
        symlinkSync(join(root, path), join(bare, path), "junction");
      }
      writeFileSync(join(bare, "package.json"), '{ "type": "module" }');
      writeFileSync(join(bare, "program.ts"), program);
    });

    for (const version of ["installed", "5.9.3"]) {
      test(`with TypeScript ${version}`, ({ skip }) => {
        const typescript = findTypescript(version) ?? skip(`npm could not bring TypeScript ${version}`);
        const options = { target: "es2022", lib: ["es2023", "dom", "esnext.disposable"], types: [], noEmit: true };
        const resolution = { module: "nodenext", moduleResolution: "nodenext", preserveSymlinks: true };
        const compilerOptions = { ...options, ...resolution, strict: true, skipLibCheck: false };
        const config = join(folder, "bare", `tsconfig.${version}.json`);
        writeFileSync(config, JSON.stringify({ compilerOptions, files: ["program.ts"] }));
        run(process.execPath, [join(typescript, "bin/tsc"), "-p", config], 180_000);
      }, 180_000);
    }
  });

  const setups = [
    ["installed", "nodenext", "nodenext"],
    ["installed", "bundler", "esnext"],
    ["6.0.3", "bundler", "esnext"],
    ["5.9.3", "nodenext", "nodenext"],
  ] as const;
  for (const [version, moduleResolution, module] of setups) {
    test(`with TypeScript ${version} and moduleResolution ${moduleResolution}`, ({ skip }) => {
      const typescript = findTypescript(version) ?? skip(`npm could not bring TypeScript ${version}`);
      const options = { target: "es2023", lib: ["es2023"], types: ["node"], noEmit: true };
      const compilerOptions = { ...options, strict: true, skipLibCheck: false, moduleResolution, module };
      const config = join(folder, `tsconfig.${version}.${moduleResolution}.json`);
      writeFileSync(config, JSON.stringify({ compilerOptions, files: ["program.ts"] }));
      run(process.execPath, [join(typescript, "bin/tsc"), "-p", config]);
    });
  }
});
