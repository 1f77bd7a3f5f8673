import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { parse } from "yaml";
import { postgresFindings } from "../../server/console/doctor/postgres.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import {
  makeSecrets,
  problemsOf,
  readDockerfile,
  readShipped,
  root,
  shippedPath,
} from "./shipped-files.ts";

interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
}
interface Service {
  environment?: Record<string, string>;
  secrets?: string[];
  command?: string[];
  stop_grace_period?: string;
  read_only?: boolean;
  depends_on?: Record<string, { condition: string }>;
}

type Output = Record<"stdout" | "stderr", string>;

const run = promisify(execFile);
const text = readShipped("compose/compose.yaml");
const { services, secrets } = parse(text, { merge: true }) as Compose;
const instances = [services["one"], services["two"]];

/** A program that checks compose files by the schema of the specification. */
const lint = (file: string) =>
  run(process.execPath, [
    join(root, "node_modules/dclint/bin/dclint.cjs"),
    ...["--quiet", "--disable-rule", "no-unbound-port-interfaces", "--color", "false", file],
  ]);

describe("the shipped compose file", () => {
  const secretFolder = makeSecrets();
  after(() => rmSync(dirname(secretFolder), { recursive: true }));

  it("obeys the schema of compose files, which refuses a wrong one", async () => {
    await lint(shippedPath("compose/compose.yaml"));
    const folder = mkdtempSync(join(tmpdir(), "ember-compose-"));
    const wrong = join(folder, "compose.yaml");
    writeFileSync(wrong, text.replace("stop_grace_period", "stop_grace_perod"));
    await assert.rejects(lint(wrong), ({ stdout, stderr }: Output) =>
      /additional properties/.test(stdout + stderr),
    );
    rmSync(folder, { recursive: true });
  });

  it("gives two equal instances settings that a start in production accepts", () => {
    assert.deepEqual(instances[0], instances[1]);
    const config = parseConfig({ ...readDockerfile().env, ...environment() });
    assert.deepEqual(
      [config.APP_ENV, config.PUBLIC_BASE_URL, config.REDIS_URL],
      ["production", "https://play.example.com", "redis://redis:6379"],
    );
    assert.notEqual(config.AVATAR_STORE, "");
    assert.deepEqual(problemsOf(config), []);
  });

  /** With the files of the secrets where this test has made them. */
  function environment(): Record<string, string> {
    const given = Object.entries(instances[0]?.environment ?? {}).map(([name, value]) => [
      name,
      value
        .replace(/\$\{SITE:\?.*\}/, "play.example.com")
        .replaceAll("${SITE}", "play.example.com")
        .replace(/\$\{\w+:-(.*)\}/, "$1")
        .replace("/run/secrets", secretFolder),
    ]);
    return Object.fromEntries(given) as Record<string, string>;
  }

  it("names the secrets that make-secrets makes, and no others", () => {
    const made = readdirSync(secretFolder).toSorted();
    assert.deepEqual(Object.keys(secrets).toSorted(), made);
    const used = Object.values(services).flatMap((service) => service.secrets ?? []);
    assert.deepEqual([...new Set(used)].toSorted(), made);
    for (const [name, { file }] of Object.entries(secrets)) assert.equal(file, `./secrets/${name}`);
  });

  it("lets an instance end in order, and starts the proxy after both are ready", () => {
    const { SHUTDOWN_TIMEOUT_SECONDS: timeout } = parseConfig({});
    for (const instance of instances) {
      assert.ok(Number.parseInt(instance?.stop_grace_period ?? "", 10) > timeout);
      assert.equal(instance?.read_only, true);
    }
    const healthy = { condition: "service_healthy" };
    assert.deepEqual(services["proxy"]?.depends_on, { one: healthy, two: healthy });
  });

  it("has stores that keep everything, and connections for all pools", () => {
    const redis = services["redis"]?.command?.join(" ") ?? "";
    assert.match(redis, /--appendonly yes/);
    assert.match(redis, /--maxmemory-policy noeviction/);
    const [, max = ""] =
      /max_connections=(\d+)/.exec(services["postgres"]?.command?.join(" ") ?? "") ?? [];
    const pools = { ...parseConfig({}), HTTP_WORKERS: 2 };
    const settings = {
      ...{ max_connections: max, superuser_reserved_connections: "3", fsync: "on" },
      ...{ full_page_writes: "on", synchronous_commit: "on", transaction_read_only: "off" },
    };
    const facts = { settings, numForeign: 0, migrations: { pending: [], unknown: [] } };
    const wrong = postgresFindings(facts, [pools, pools]).filter(({ verdict }) => verdict !== "ok");
    assert.deepEqual(wrong, []);
  });
});
