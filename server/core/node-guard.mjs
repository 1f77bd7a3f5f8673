// The first --import of every entry point: an older Node crashes on our imports without a message.
// Below the wanted version the Node that npm installed beside us takes over.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isRecent = major > 22 || (major === 22 && minor >= 17);

if (!isRecent) {
  const own = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
  if (!existsSync(own) || process.env["EMBERLINE_NODE_GUARD"]) {
    process.stderr.write(`Node 22.17 or newer is needed, this is ${process.versions.node}\n`);
    process.exit(1);
  }
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
