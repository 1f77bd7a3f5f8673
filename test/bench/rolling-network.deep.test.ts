import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createNetwork } from "../../bench/rolling/network.ts";
import { eventually } from "../support/eventually.ts";
import { forked } from "../support/forked.ts";
import { noNamespaces } from "./namespaces.ts";

const ip = (...args: string[]) => execFileSync("ip", args, { encoding: "utf8" });
/** What exists of the network of this process. */
const left = (pid: number | undefined) =>
  [ip("netns", "list"), ip("-brief", "link", "show")]
    .flatMap((text) => text.split("\n"))
    .filter((line) => line.match(`^em\\d?-${pid?.toString(36)}\\b`));
/** At a few commands of the set-up, all of which are awaited one after the other. */
const killedAt = ["link add", "netns add", "netns exec"];

describe("the network of the rolling bench", { skip: noNamespaces() }, () => {
  let folder: string;
  let path: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-ip-"));
    path = process.env["PATH"] ?? "";
    // Ends its caller before the command that $KILL_AT names, by $KILL_BY.
    writeFileSync(
      join(folder, "ip"),
      `#!/bin/sh
PATH=${path}
case "$*" in "$KILL_AT"*) kill -s "$KILL_BY" $PPID; sleep 0.2;; esac
exec ip "$@"\n`,
    );
    chmodSync(join(folder, "ip"), 0o755);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const make = (settings: Record<string, string> = {}) =>
    forked(new URL("./rolling-network-process.ts", import.meta.url), [], settings);
  const isGone = (pid: number | undefined) =>
    eventually("the network is gone", () => left(pid).length === 0);

  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
    it(`is removed when its process ends by ${signal}`, async () => {
      const child = make();
      await once(child, "message");
      assert.notDeepEqual(left(child.pid), []);
      child.kill(signal);
      await isGone(child.pid);
    });

    for (const command of killedAt)
      it(`is removed when its process ends by ${signal} in \`ip ${command}\``, async () => {
        const env = { PATH: `${folder}:${path}`, KILL_AT: command, KILL_BY: signal.slice(3) };
        const child = make(env);
        await once(child, "exit");
        assert.equal(child.signalCode, signal);
        await isGone(child.pid);
      });
  }

  it("removes what dead runs have left, and nothing of those that run", async () => {
    const running = make();
    await once(running, "message");
    const before = left(running.pid);
    const dead = make();
    await once(dead, "message");
    const deadPid = dead.pid;
    dead.kill("SIGKILL");
    await isGone(deadPid);
    const name = `em-${deadPid?.toString(36)}`;
    ip("link", "add", name, "type", "bridge");
    ip("netns", "add", `${name}-0`);
    const network = await createNetwork(1);
    assert.deepEqual(left(deadPid), []);
    assert.deepEqual(left(running.pid), before);
    await network.close();
    assert.deepEqual(left(process.pid), []);
    running.kill();
    await isGone(running.pid);
  });
});
