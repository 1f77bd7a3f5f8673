// The first --import of every entry point: an older Node crashes on our imports without a message.
// Below the wanted version the Node that npm installed beside us takes over.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isRecent = major > 22 || (major === 22 && minor >= 17);
const installed = fileURLToPath(new URL("../../node_modules/", import.meta.url));

if (!existsSync(`${installed}tsx`)) refuse("the packages are not installed; run npm ci first");

if (!isRecent) {
  const own = `${installed}.bin/node`;
  if (!existsSync(own) || process.env["EMBERLINE_NODE_GUARD"])
    refuse(`Node 22.17 or newer is needed, this is ${process.versions.node}`);
  const env = { ...process.env, EMBERLINE_NODE_GUARD: "1" };
  const child = spawn(own, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: "inherit",
    env,
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => child.kill(signal));
  const [code, signal] = await once(child, "exit");
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
}

function refuse(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
