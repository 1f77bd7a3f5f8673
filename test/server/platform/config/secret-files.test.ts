import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import {
  ConfigError,
  configToEnv,
  parseConfig,
} from "../../../../server/platform/config/config.ts";
import { secretSettings } from "../../../../server/platform/config/settings.ts";

const folder = mkdtempSync(join(tmpdir(), "ember-secrets-"));

function fileWith(content: string | Buffer, name = "secret"): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems;
  }
}

const secret = "k8Qn0vXc1tYb7uZe3wRa5sDf9gHj2lPo";

describe("a secret in a file", () => {
  after(() => rmSync(folder, { recursive: true }));

  it("is the setting, without spaces around it", () => {
    const config = parseConfig({ APP_SECRET_FILE: fileWith(`${secret}\n`) });
    assert.equal(config.APP_SECRET, secret);
  });

  it("may be any setting with a secret or a password, also that of a social login", () => {
    for (const name of ["DATABASE_URL", "REDIS_URL", "SMTP_URL", "GENERATOR_KEY", "AVATAR_STORE"])
      assert.ok(secretSettings.includes(name), name);
    const { oauthProviders } = parseConfig({
      OAUTH_ACME_CLIENT_ID: "id",
      OAUTH_ACME_ISSUER: "https://acme.example",
      OAUTH_ACME_SECRET_FILE: fileWith("hush"),
    });
    assert.equal(oauthProviders[0]?.clientSecret, "hush");
  });

  it("is refused beside the setting itself, and where it cannot be used", () => {
    const missing = join(folder, "missing");
    const empty = fileWith(" \n", "empty");
    const binary = fileWith(Buffer.from([...secret].map((_, at) => 0x80 + at)), "binary");
    const cases: readonly [Record<string, string>, string][] = [
      [
        { APP_SECRET: secret, APP_SECRET_FILE: fileWith(secret) },
        "APP_SECRET: set either APP_SECRET or APP_SECRET_FILE, not both",
      ],
      [
        { APP_SECRET_FILE: missing },
        `APP_SECRET: APP_SECRET_FILE cannot be read: ${missing} (ENOENT)`,
      ],
      [
        { GENERATOR_KEY_FILE: empty },
        `GENERATOR_KEY: GENERATOR_KEY_FILE names an empty file: ${empty}`,
      ],
      [
        { APP_SECRET_FILE: folder },
        `APP_SECRET: APP_SECRET_FILE cannot be read: ${folder} (EISDIR)`,
      ],
      [
        { APP_SECRET_FILE: binary },
        `APP_SECRET: APP_SECRET_FILE names a file that is not UTF-8: ${binary}`,
      ],
    ];
    for (const [env, problem] of cases) assert.deepEqual(problemsOf(env), [problem]);
    assert.match(
      problemsOf({ APP_SECRET_FILE: fileWith("x".repeat(20_000)) })[0] ?? "",
      /^APP_SECRET: APP_SECRET_FILE names a file of more than/,
    );
  });

  it("obeys the rules of the setting, and is not shown", () => {
    const [problem = ""] = problemsOf({ SMTP_URL_FILE: fileWith("hush://mail") });
    assert.match(problem, /^SMTP_URL: must be/);
    assert.doesNotMatch(problem, /hush/);
  });

  it("reaches the other processes as the setting alone", () => {
    const given = { APP_SECRET_FILE: fileWith(secret) };
    const inherited = { ...given, ...configToEnv(parseConfig(given)) };
    assert.equal(parseConfig(inherited).APP_SECRET, secret);
  });
});
