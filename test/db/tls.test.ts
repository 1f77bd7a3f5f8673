import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { after, before, describe, it } from "node:test";
import { isMigrated } from "../../db/migrate.ts";
import { createOrm, pingDatabase } from "../../db/orm.ts";
import { parseDatabaseUrl } from "../../server/platform/postgres/database-url.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { mailCertificate } from "../support/mail-certificate.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { startTlsFront, type TlsFront } from "../support/tls-front.ts";

describe("stores behind TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "ember-tls-"));
  const authority = join(folder, "authority.pem");
  let stores: TestStores;
  let fronts: Record<"127.0.0.1" | "::1", TlsFront>;
  before(async () => {
    writeFileSync(authority, mailCertificate);
    stores = await testStores();
    const socket = { path: join(parseDatabaseUrl(stores.databaseUrl).host, ".s.PGSQL.5432") };
    const [four, six] = await Promise.all([
      startTlsFront(socket, { asks: true }),
      startTlsFront(socket, { host: "::1", asks: true }),
    ]);
    fronts = { "127.0.0.1": four, "::1": six };
  });
  after(async () => {
    await Promise.all(Object.values(fronts).map((front) => front.stop()));
    await stores.stop();
    rmSync(folder, { recursive: true });
  });

  async function answers(host: keyof typeof fronts, query: string): Promise<boolean> {
    const { user, database } = parseDatabaseUrl(stores.databaseUrl);
    const name = host === "::1" ? "[::1]" : host;
    const url = `postgres://${user}@${name}:${fronts[host].port}/${database}${query}`;
    const orm = await createOrm({ DATABASE_URL: url, DATABASE_POOL: 1 });
    try {
      return (await pingDatabase(orm, 5_000)) && (await isMigrated(orm));
    } finally {
      await orm.close(true);
    }
  }

  it("follow the certificate options in the database address", async () => {
    const known = `&sslrootcert=${encodeURIComponent(authority)}`;
    for (const [host, query, expected] of [
      ["127.0.0.1", "", false],
      ["127.0.0.1", "?sslmode=disable", false],
      ["127.0.0.1", "?sslmode=require", true],
      ["127.0.0.1", "?sslmode=verify-ca", false],
      ["127.0.0.1", "?sslmode=verify-full&sslrootcert=system", false],
      ["127.0.0.1", `?sslmode=verify-full${known}`, true],
      ["127.0.0.1", `?${known}`, true],
      // The certificate is not valid for this address.
      ["::1", `?sslmode=verify-full${known}`, false],
      ["::1", `?sslmode=verify-ca${known}`, true],
      ["::1", `?sslmode=require${known}`, true],
    ] as const)
      assert.equal(await answers(host, query), expected, `${host} ${query}`);
  });

  it("are refused when their address has an unsupported option", () => {
    const url = "postgres://db.example/games";
    for (const query of ["sslmode=prefer", "sslmode=yes", "sslcert=x", "sslrootcert=/no/such/file"])
      assert.throws(() => parseDatabaseUrl(`${url}?${query}`), /ssl|no such file/, query);
  });

  it("can include Redis, whose certificate has to be trusted", async () => {
    const front = await startTlsFront({ path: stores.redisUrl.slice("unix://".length) });
    const trusted = getCACertificates("default");
    const isReady = async () => {
      const redis = connectRedis(`rediss://127.0.0.1:${front.port}`, silentLogger, "test");
      const failed = once(redis, "error").then(() => false);
      const isOpen = await Promise.race([redisReady(redis).then(() => true), failed]);
      redis.disconnect();
      return isOpen;
    };
    assert.equal(await isReady(), false);
    setDefaultCACertificates([...trusted, mailCertificate]);
    assert.equal(await isReady(), true);
    setDefaultCACertificates(trusted);
    await front.stop();
  });
});
