// The first --import of every entry point: a Node that cannot read TypeScript (before 22.18) would
// crash without a message. The Node that npm installed beside us takes over from it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
// Not by its name: an older Node has no such export and would end here.
import module from "node:module";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const isRecent = process.features.typescript === "strip";
const installed = fileURLToPath(new URL("../../node_modules/", import.meta.url));

if (!existsSync(`${installed}.package-lock.json`))
  refuse("the packages are not installed; run npm ci first");

if (!isRecent) {
  const own = `${installed}.bin/node`;
  if (!existsSync(own) || process.env["EMBERLINE_NODE_GUARD"])
    refuse(`Node 22.18 or newer is needed, this is ${process.versions.node}`);
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

// A process that takes the place of a killed one has nothing to compile.
module.enableCompileCache(`${installed}.cache/compiled`);
const { keepStrippedSources } = await import("./stripped-sources.mjs");
keepStrippedSources(`${installed}.cache/stripped`);
const { linkPackages } = await import("./linked-packages.mjs");
await linkPackages(installed, `${installed}.cache/linked`);

function refuse(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
