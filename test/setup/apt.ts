import { spawn } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { ended } from "./keep.ts";

const policy = "/usr/sbin/policy-rc.d";

export function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
}

/** Brings packages on Debian and Ubuntu. Their servers are not started: the tests run private ones. */
export async function install(packages: readonly string[]): Promise<boolean> {
  const ours = !existsSync(policy);
  if (ours) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    if (!(await apt(["update"]))) return false;
    return await apt(["install", "-y", "--no-install-recommends", ...packages]);
  } finally {
    if (ours) rmSync(policy);
  }
}

async function apt(args: readonly string[]): Promise<boolean> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return (await ended(spawn("apt-get", ["-qq", ...args], { env, stdio: ["ignore", "ignore", "inherit"] }))) === 0;
}
