import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createNetwork, type Network } from "../../bench/rolling/network.ts";
import { freePort } from "../support/free-port.ts";
import { startService } from "../support/process.ts";
import { testStores } from "../support/stores.ts";
import { proxyKind, startProxy } from "../support/web-proxies.ts";
import { runBenchOn } from "./command.ts";

const seconds = 3;
/** `npm run bench -- <name> --url` runs any. */
const complete = ["http", "games"];
const lacking: Record<string, RegExp> = {
  awards: /an award named id\.award\.bench of the game bench is missing: /,
  guests:
    /one address may send POST \/v1\/gateway\/guest 60 times a minute, .+ needs 120: --addresses/,
  logins:
    /one address may send POST \/v1\/gateway\/login 10 times a minute, .+ needs 24: --addresses/,
  "slow-readers":
    /one address may send POST .+\/spectate 60 times a minute, .+ needs 150: --addresses/,
  survival: /one address may send POST \/v1\/gateway\/guest .+ needs any number: --addresses/,
  jobs: /the operator listener is unknown: --operator-url.*; one address may send POST \/v1\/gateway\/code\/request 5 times/,
};
const nginx = proxyKind("nginx");
const shipped = readFileSync(join(import.meta.dirname, "../../.deploy/proxy/nginx.conf"), "utf8");

const startNginx = async (host: string, target: string) =>
  startProxy(
    nginx,
    (port, folder) =>
      nginx.wrap(
        nginx
          .configure(shipped, port, [new URL(target).host])
          .replace("listen 127.0.0.1:", `listen ${host}:`),
        folder,
      ),
    { host, port: await freePort() },
  );

async function withNetwork(work: (network: Network) => Promise<void>): Promise<string | null> {
  let network: Network;
  try {
    network = await createNetwork(1);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  await work(network).finally(() => network.close());
  return null;
}

test("from another host, behind nginx, in production, with limits, scenarios run or name what is missing", async (t) => {
  const stores = await testStores();
  const out = mkdtempSync(join(tmpdir(), "ember-bench-"));
  t.after(async () => {
    await stores.stop();
    rmSync(out, { recursive: true });
  });
  const missing = await withNetwork(async ({ address, hosts: [host] }) => {
    const service = await startService({
      env: {
        ...{ APP_ENV: "production", APP_SECRET: randomBytes(32).toString("hex") },
        ...{ DATABASE_URL: stores.databaseUrl, REDIS_URL: stores.redisUrl },
        ...{ PUBLIC_BASE_URL: "https://games.example", TRUSTED_PROXIES: "127.0.0.1/32" },
        SHUTDOWN_DELAY_SECONDS: "0",
      },
    });
    const proxy = await startNginx(address, service.url);
    const run = (name: string, ...more: string[]) => {
      const where = ["--url", proxy.url, "--i-may-load-this-host", "--out", out];
      const budgets = ["--seconds", String(seconds), "--budget", "violations <= 0"];
      return runBenchOn(host?.prefix ?? [], name, ...where, ...budgets, ...more);
    };
    try {
      const claimed = await run("guests", "--addresses", "10.9.0.0/16");
      assert.match(claimed.output, /one address in spite of --addresses: TRUSTED_PROXIES/);
      for (const name of complete) {
        const { code, output } = await run(name);
        assert.match(output, /^\| violations <= 0 \| 0 +\| met +\|$/m, output);
        // A busy machine may limit the generator.
        assert.ok([0, 4].includes(code), output);
      }
      for (const [name, reason] of Object.entries(lacking)) {
        const { code, output } = await run(name);
        assert.equal(code, 1, output);
        assert.match(output, reason);
      }
    } finally {
      await proxy.stop();
      await service.stop();
    }
  });
  // Namespaces need rights that not every machine gives.
  if (missing !== null) t.diagnostic(missing);
});
