import { createHash } from "node:crypto";

/** How many are remembered; the least recently used go first. */
const maxSecrets = 10_000;

/** Shorter ones could be guessed: they are never remembered. Those that Pawl creates are longer. */
const minLength = 32;

/** Secrets that were valid when they were used last, as hashes. Whether they still are, the database says. */
export class RecentSecrets {
  readonly #hashes = new Set<string>();

  has(secret: string): boolean {
    return this.#hashes.has(hashOf(secret));
  }

  add(secret: string): void {
    if (secret.length < minLength) return;
    const hash = hashOf(secret);
    this.#hashes.delete(hash); // Moves it to the end of the set, which is ordered by use.
    this.#hashes.add(hash);
    if (this.#hashes.size > maxSecrets) this.#hashes.delete(this.#hashes.values().next().value!);
  }

  delete(secret: string): void {
    this.#hashes.delete(hashOf(secret));
  }
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64");
}
