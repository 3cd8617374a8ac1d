import { lookup as lookUp } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { PawlError } from "../../../base/errors.ts";
import { PermanentError } from "../../../base/step-errors.ts";
import { isIn, isPublic, listOf } from "./address.ts";
import type { GuardOptions } from "./guard-options.ts";

export type Resolve = (host: string) => Promise<readonly { address: string; family: number }[]>;

/** Keeps webhooks from reaching what only this machine can: an address given by a user may lead anywhere. */
export class Guard {
  readonly #schemes: readonly string[];
  readonly #ports: readonly number[];
  readonly #allowed: ReturnType<typeof listOf>;
  readonly #resolve: Resolve;

  constructor(options: GuardOptions, resolve?: Resolve) {
    this.#schemes = options.allowHttp === true ? ["https:", "http:"] : ["https:"];
    this.#ports = options.ports ?? (options.allowHttp === true ? [443, 80] : [443]);
    this.#allowed = networksOf(options.allowedNetworks ?? []);
    this.#resolve = resolve ?? ((host) => lookUp(host, { all: true, verbatim: true }));
  }

  /** Returns the URL if it is allowed, as far as the URL itself shows. */
  checkedUrl(text: string): URL {
    if (!URL.canParse(text)) throw new PermanentError("The webhook's URL is invalid.");
    const url = new URL(text); // Also reads 0x7f.1 and 2130706433 as the addresses that they are.
    if (!this.#schemes.includes(url.protocol)) throw refused(url, `${url.protocol.slice(0, -1)} is not allowed`);
    if (url.username !== "" || url.password !== "") throw refused(url, "it contains a user or a password");
    const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
    if (!this.#ports.includes(port)) throw refused(url, `port ${port} is not allowed`);
    const host = hostOf(url);
    if (isIP(host) !== 0 && !this.#allows(host)) throw refused(url, "its address is not public");
    return url;
  }

  /**
   * Resolves a name for a new connection, and checks every address. The connection uses one of these addresses,
   * whatever the name resolves to a moment later.
   */
  readonly lookup: LookupFunction = (host, options, done) => {
    void this.#answer(host, options.all === true, done);
  };

  async #answer(host: string, wantsAll: boolean, done: Parameters<LookupFunction>[2]): Promise<void> {
    let addresses: readonly { address: string; family: number }[];
    try {
      addresses = await this.#resolveChecked(host);
    } catch (error) {
      done(error as NodeJS.ErrnoException, "", 4);
      return;
    }
    if (wantsAll) done(null, [...addresses]);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  }

  async #resolveChecked(host: string): Promise<readonly { address: string; family: number }[]> {
    const addresses = await this.#resolve(host);
    if (addresses.length === 0) throw new Error(`${host} has no address.`);
    if (addresses.every(({ address }) => this.#allows(address))) return addresses;
    throw new PermanentError(`Webhooks to ${host} are not allowed: it has an address that is not public.`);
  }

  #allows(address: string): boolean {
    return isPublic(address) || isIn(this.#allowed, address);
  }
}

/** The host of a URL, an IPv6 address without its brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function refused(url: URL, why: string): PermanentError {
  return new PermanentError(`Webhooks to ${url.protocol}//${url.host} are not allowed: ${why}.`);
}

function networksOf(networks: readonly string[]): ReturnType<typeof listOf> {
  try {
    return listOf(networks);
  } catch {
    throw new PawlError("option_invalid", '`allowedNetworks` must list networks such as "10.1.0.0/16" or "fd00::/8".');
  }
}
