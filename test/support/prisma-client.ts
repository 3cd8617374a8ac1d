import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

interface Queries {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown>;
}

/** As much of Prisma's generated client as the tests use. */
interface PrismaClient extends Queries {
  $transaction<T>(work: (trx: Queries) => Promise<T>, options: { timeout: number }): Promise<T>;
  $disconnect(): Promise<void>;
}

/**
 * A folder with `@prisma/client`, `@prisma/adapter-pg` and a client that was generated into `generated`. Prisma is no
 * dependency of the tests, since it takes 300 MB; CONTRIBUTING.md describes how to create such a folder.
 */
export const prismaFolder = process.env.PAWL_TEST_PRISMA;

/** Prisma's own client, with its query compiler and the driver adapter for `pg`. */
export async function openPrisma(folder: string, url: string): Promise<PrismaClient> {
  const { PrismaPg } = createRequire(join(folder, "package.json"))("@prisma/adapter-pg") as {
    PrismaPg: new (options: { connectionString: string }) => object;
  };
  const generated: unknown = await import(pathToFileURL(join(folder, "generated/client.ts")).href);
  const { PrismaClient } = generated as { PrismaClient: new (options: { adapter: object }) => PrismaClient };
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
}
