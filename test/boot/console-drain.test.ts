import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { AuditLogSchema } from "../../db/entities/audit-log.ts";
import { createOrm } from "../../db/orm.ts";
import { Refusal } from "../../server/console/command.ts";
import { workerCommands } from "../../server/console/workers.ts";
import { parseConfig, type Config } from "../../server/platform/config/config.ts";
import { startService, type Service } from "../support/process.ts";

describe("the console command worker:drain", () => {
  let service: Service;
  let orm: MikroORM;
  before(async () => {
    // Its refused token would count against the guesses of other tests.
    service = await startService({ sharesPostgres: true, env: { JOB_WORKERS: "0" } });
    orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 1 });
  });
  after(async () => {
    await orm.close(true);
    await service.stop();
  });

  const drain = async (options: Record<string, string>, settings: Partial<Config> = {}) => {
    const [command] = workerCommands;
    assert.ok(command);
    const given: Partial<Config> = {
      OPERATOR_LISTEN: new URL(service.operatorUrl).host,
      OPERATOR_TOKEN: service.operatorToken,
      ...settings,
    };
    const config = { ...parseConfig({ DATA_DIR: service.dataDir }), ...given };
    return command.run(config, { index: "0", reason: "it grew", ...options });
  };
  const refused = (work: Promise<unknown>, code: string) =>
    assert.rejects(work, (error) => error instanceof Refusal && error.message.startsWith(code));

  it("asks the running service, whose refusal it reports, with an audit record", async () => {
    await refused(drain({ reason: "console drain" }), "worker:last");
    const found = await orm.em.fork().findOne(AuditLogSchema, { reason: "console drain" });
    assert.deepEqual([found?.action, found?.target], ["worker:drain", "http 0"]);
    await refused(drain({ index: "7" }), "worker:not_found");
  });

  it("uses the token of the data folder in development", async () => {
    await refused(drain({}, { OPERATOR_TOKEN: "" }), "worker:last");
  });

  it("names what is missing or wrong", async () => {
    await refused(drain({ reason: " " }), "worker:invalid_reason");
    await refused(drain({ index: "http 0" }), "worker:invalid_index");
    await refused(drain({}, { OPERATOR_TOKEN: "wrong" }), "auth:");
    await refused(drain({}, { OPERATOR_LISTEN: "127.0.0.1:0" }), "worker:no_address");
    await refused(drain({}, { OPERATOR_LISTEN: "127.0.0.1:1" }), "worker:unreachable");
    const without = { OPERATOR_TOKEN: "", APP_ENV: "production" };
    await refused(drain({}, without), "worker:no_token");
  });
});
