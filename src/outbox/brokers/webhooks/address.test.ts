import { expect, test } from "vitest";
import { isIn, isPublic, listOf } from "./address.ts";

const inner = [
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "100.100.100.200",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.168.1.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:a9fe:a9fe",
  "0:0:0:0:0:ffff:0a00:0001",
  "64:ff9b::7f00:1",
  "64:ff9b::169.254.169.254",
  "64:ff9b:1::1",
  "fe80::1",
  "fe80::1%eth0",
  "fc00::1",
  "fd00:ec2::254",
  "ff02::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "100::1",
  "localhost",
  "",
];
const outer = [
  "1.1.1.1",
  "8.8.8.8",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.255.255",
  "172.32.0.1",
  "223.255.255.255",
  "2606:4700::1111",
  "2a00:1450:4001:82a::200e",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
];

for (const address of inner)
  test(`${address || "nothing"} is not for everybody`, () => expect(isPublic(address)).toBe(false));
for (const address of outer) test(`${address} is public`, () => expect(isPublic(address)).toBe(true));

test("a network is told by its prefix, and a single address is one, too", () => {
  const list = listOf(["10.1.0.0/16", "fd00::/8", "127.0.0.2"]);
  expect(["10.1.2.3", "fd12::1", "127.0.0.2"].map((address) => isIn(list, address))).toEqual([true, true, true]);
  expect(["10.2.0.1", "fe80::1", "127.0.0.3"].map((address) => isIn(list, address))).toEqual([false, false, false]);
});
