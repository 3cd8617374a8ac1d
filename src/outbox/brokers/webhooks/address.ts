import { BlockList, isIP } from "node:net";

/** Addresses that are not on the public internet, by IANA's registries of special addresses. */
const privateV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10", // Carrier-grade NAT; some clouds keep their metadata there.
  "127.0.0.0/8",
  "169.254.0.0/16", // Link-local; most clouds keep their metadata there.
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** All public IPv6 addresses are in one block, with exceptions. */
const publicV6 = ["2000::/3"];
const holesV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];
/** IPv6 addresses that map to an IPv4 address. */
const embeddingV6 = ["::ffff:0:0/96", "64:ff9b::/96"];

const privates = listOf(privateV4);
const publics = listOf(publicV6);
const holes = listOf(holesV6);
const embedding = listOf(embeddingV6);

/** Networks such as `10.1.0.0/16` or `fd00::/8`, to check addresses against. */
export function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(address, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return list;
}

export function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Whether an address can be reached from the internet. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !isIn(privates, address);
  if (family !== 6 || address.includes("%")) return false; // An address with a zone is of the local network.
  if (isIn(embedding, address)) return isPublic(embeddedV4(address));
  return isIn(publics, address) && !isIn(holes, address);
}

/** The last 32 bits of an IPv6 address, written as IPv4. */
function embeddedV4(address: string): string {
  const dotted = /(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const [head = "", tail] = address.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const last = tail === undefined ? groups(head) : [...groups(head), "0", "0", ...groups(tail)];
  const [high = 0, low = 0] = last.slice(-2).map((group) => Number.parseInt(group, 16));
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
