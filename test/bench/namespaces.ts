import { execFileSync } from "node:child_process";

/** Why no network namespace can be made here, in one line; false if one can. */
export function noNamespaces(): string | false {
  const name = `em-probe-${process.pid}`;
  try {
    for (const what of ["add", "del"]) execFileSync("ip", ["netns", what, name], { stdio: "pipe" });
    return false;
  } catch (error) {
    const reason = String(error).trim().split("\n").at(-1);
    return `network namespaces need root and iproute2 (\`ip netns\`): ${reason}`;
  }
}
