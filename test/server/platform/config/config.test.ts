import assert from "node:assert/strict";
import { hash, randomBytes, randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { publicBaseUrl } from "../../../../server/platform/net/addresses.ts";
import { developmentSecret } from "../../../../server/platform/config/config-checks.ts";
import { ConfigError, parseConfig } from "../../../../server/platform/config/config.ts";
import { shutdownDelaySeconds } from "../../../../server/platform/config/shutdown.ts";
import { ConfigSchema } from "../../../../server/platform/config/settings.ts";

type Env = Record<string, string>;

const secret = (name: string) => hash("sha256", name, "base64");
const production: Env = {
  APP_ENV: "production",
  APP_SECRET: secret("a"),
  APP_SECRET_PREVIOUS: secret("b"),
  OPERATOR_BOOTSTRAP_TOKEN: secret("c"),
  DATABASE_URL: "postgres://db.example/games",
  REDIS_URL: "redis://cache.example",
  PUBLIC_BASE_URL: "https://games.example",
};

function problemsOf(env: Env): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems;
  }
}

function refused(base: Env, cases: readonly (readonly [Env, string])[]): void {
  for (const [env, problem] of cases)
    assert.deepEqual(problemsOf({ ...base, ...env }), [problem], JSON.stringify(env));
}

describe("the ports of the workers", () => {
  it("are off, picked, or a range that nothing else of the service listens on", () => {
    const base = { HTTP_WORKERS: "2", PORT: "8080", OPERATOR_LISTEN: "127.0.0.1:9090" };
    for (const ports of ["", "off", "auto", "8081", "65534"])
      assert.deepEqual(problemsOf({ ...base, WORKER_PORTS: ports }), [], ports);
    const form = "WORKER_PORTS: must be off, auto or a port";
    refused(base, [
      ...["0", "on", "-1", "8081-8082", "123456"].map(
        (ports) => [{ WORKER_PORTS: ports }, form] as const,
      ),
      [
        { WORKER_PORTS: "65535" },
        "WORKER_PORTS: ports 65535 to 65536 are needed, 65535 is the highest",
      ],
      [{ WORKER_PORTS: "8079" }, "WORKER_PORTS: ports 8079 to 8080 include 8080 of PORT"],
      [
        { WORKER_PORTS: "9090" },
        "WORKER_PORTS: ports 9090 to 9091 include 9090 of OPERATOR_LISTEN",
      ],
    ]);
  });
});

describe("the times of a stop", () => {
  const delayOf = (env: Env) => shutdownDelaySeconds(parseConfig(env));

  it("have a delay of 5 s in production, and otherwise none, unless one is set", () => {
    assert.deepEqual(
      [delayOf({}), delayOf(production), delayOf({ SHUTDOWN_DELAY_SECONDS: "3" })],
      [0, 5, 3],
    );
    assert.equal(delayOf({ ...production, SHUTDOWN_DELAY_SECONDS: "0" }), 0);
  });

  it("refuse a delay that leaves no time for the stop, and values that are no seconds", () => {
    const less = "SHUTDOWN_DELAY_SECONDS: must be less than SHUTDOWN_TIMEOUT_SECONDS";
    refused({}, [
      [{ SHUTDOWN_DELAY_SECONDS: "25" }, `${less} (25), not 25`],
      [{ SHUTDOWN_DELAY_SECONDS: "7", SHUTDOWN_TIMEOUT_SECONDS: "7" }, `${less} (7), not 7`],
      [{ ...production, SHUTDOWN_TIMEOUT_SECONDS: "4" }, `${less} (4), not 5`],
      ...["-1", "5s", "2.5"].map(
        (delay) =>
          [
            { SHUTDOWN_DELAY_SECONDS: delay },
            "SHUTDOWN_DELAY_SECONDS: must be a whole number of seconds",
          ] as const,
      ),
      [
        { SHUTDOWN_TIMEOUT_SECONDS: "1" },
        'SHUTDOWN_TIMEOUT_SECONDS: must be a whole number from 2 to 3600, not "1"',
      ],
    ]);
  });
});

describe("the probes", () => {
  it("have two paths on the public listener, each of which may be off", () => {
    for (const env of [
      { PUBLIC_LIVE_PATH: "off", PUBLIC_READY_PATH: "off" },
      { PUBLIC_LIVE_PATH: "/ready", PUBLIC_READY_PATH: "/a/b-c.d_e~f" },
      { READY_STORE_SECONDS: "0" },
      { READY_STORE_SECONDS: "5" },
    ])
      assert.deepEqual(problemsOf(env), [], JSON.stringify(env));
  });

  it("refuse paths that cannot be served, and a time between two checks of the stores", () => {
    const form = "must be off or a path of A-Z, a-z, 0-9, ., _, ~ and -, as /ready";
    refused({}, [
      ...["ready", "/", "/ready/", "/{any}", "/a b", "/a?b"].map(
        (path) => [{ PUBLIC_READY_PATH: path }, `PUBLIC_READY_PATH: ${form}`] as const,
      ),
      [{ PUBLIC_LIVE_PATH: "/ready" }, "PUBLIC_READY_PATH: must differ from PUBLIC_LIVE_PATH"],
      ...["1", "4"].map(
        (seconds) =>
          [
            { READY_STORE_SECONDS: seconds },
            `READY_STORE_SECONDS: must be 0 or at least 5, not ${seconds}`,
          ] as const,
      ),
    ]);
  });
});

describe("a configuration for production", () => {
  it("starts when it is complete", () => {
    assert.deepEqual(problemsOf(production), []);
    assert.equal(parseConfig(production).APP_SECRET, secret("a"));
  });

  it("has secrets of its own, long enough and each for one thing", () => {
    const isDefault = "the development secret is refused in production";
    refused(production, [
      [{ APP_SECRET: "" }, "APP_SECRET: required in production"],
      [{ APP_SECRET: " " }, "APP_SECRET: required in production"],
      [{ APP_SECRET: "a".repeat(31) }, "APP_SECRET: at least 32 bytes"],
      [{ APP_SECRET: developmentSecret }, `APP_SECRET: ${isDefault}`],
      [{ APP_SECRET_PREVIOUS: "b".repeat(31) }, "APP_SECRET_PREVIOUS: at least 32 bytes"],
      [{ APP_SECRET_PREVIOUS: developmentSecret }, `APP_SECRET_PREVIOUS: ${isDefault}`],
      [
        { OPERATOR_BOOTSTRAP_TOKEN: "c".repeat(31) },
        "OPERATOR_BOOTSTRAP_TOKEN: at least 32 characters",
      ],
      [{ APP_SECRET_PREVIOUS: secret("a") }, "APP_SECRET_PREVIOUS: must differ from APP_SECRET"],
      [
        { OPERATOR_BOOTSTRAP_TOKEN: secret("a") },
        "OPERATOR_BOOTSTRAP_TOKEN: must differ from APP_SECRET",
      ],
      [
        { OPERATOR_BOOTSTRAP_TOKEN: secret("b") },
        "OPERATOR_BOOTSTRAP_TOKEN: must differ from APP_SECRET_PREVIOUS",
      ],
    ]);
    assert.deepEqual(problemsOf({ ...production, APP_SECRET: "ßéñøåæœłđżźćńóęąčďľř" }), []);
  });

  it("has no secret that can be guessed, and says how to make one", () => {
    const guessed = [
      "a".repeat(32),
      "ä".repeat(32),
      "abc".repeat(11),
      "Aa1!".repeat(8),
      "1234567890".repeat(4),
      "0123456789abcdef".repeat(2),
      "112233445566778899aabbccddeeff00",
      "abcdefghijklmnopqrstuvwxyz0123456789",
      "zyxwvutsrqponmlkjihgfedcba987654321",
      "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6",
      "acegikmoqsuwybdfhjlnprtvxz135792468",
      "qwertyuiopasdfghjklzxcvbnm123456",
      "qwertzuiopasdfghjklyxcvbnm1234567",
      "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol",
      "qazwsxedcrfvtgbyhnujmikolp1234567890",
      "asdfjkl;asdfjkl;qwerasdfzxcvuiopjkl;",
      "20240101202401022024010320240104",
      "hunter2hunter2hunter2hunter2hunter2",
      "emberlineemberlineemberlineemberline",
      "00000000-0000-0000-0000-000000000000",
      "change-me-change-me-change-me-please",
      "super-secret-key-that-is-at-least-32-chars",
      "your-32-character-secret-goes-here",
      "please-use-a-long-random-string-here!!",
      "the quick brown fox jumps over the lazy dog",
    ];
    const names = ["APP_SECRET", "APP_SECRET_PREVIOUS", "OPERATOR_BOOTSTRAP_TOKEN"];
    for (const text of guessed)
      for (const name of names) {
        const problems = problemsOf({ ...production, [name]: text });
        assert.equal(problems.length, 1, text);
        assert.match(problems[0] ?? "", new RegExp(`^${name}: .*openssl rand -base64 32$`));
        assert.deepEqual(problemsOf({ [name]: text }), [], "development takes it");
      }
    for (let i = 0; i < 500; i++)
      for (const text of [
        randomBytes(16).toString("hex"),
        randomBytes(24).toString("base64url"),
        randomBytes(32).toString("base64"),
        randomUUID(),
      ])
        assert.deepEqual(problemsOf({ ...production, APP_SECRET: text }), [], text);
  });

  it("names its stores and its address, and has limits and no inbox", () => {
    refused(production, [
      [{ DATABASE_URL: "" }, "DATABASE_URL: required in production"],
      [{ REDIS_URL: "" }, "REDIS_URL: required in production"],
      [{ PUBLIC_BASE_URL: "" }, "PUBLIC_BASE_URL: required in production"],
      [{ PUBLIC_BASE_URL: "http://games.example" }, "PUBLIC_BASE_URL: must be https in production"],
      [
        { PUBLIC_BASE_URL: "http://127.0.0.1.evil.example" },
        "PUBLIC_BASE_URL: must be https in production",
      ],
      [{ RATE_LIMIT_FACTOR: "0" }, "RATE_LIMIT_FACTOR: 0 is refused in production"],
      [{ MAIL_DRIVER: "memory" }, "MAIL_DRIVER: memory is refused in production"],
      [{ SMS_DRIVER: "memory" }, "SMS_DRIVER: memory is refused in production"],
    ]);
    for (const host of ["localhost:8080", "127.0.0.1", "127.1.2.3:1", "[::1]:8080"])
      assert.deepEqual(problemsOf({ ...production, PUBLIC_BASE_URL: `http://${host}` }), []);
  });
});

describe("a configuration", () => {
  it("needs nothing for development, but refuses what is ill", () => {
    assert.equal(parseConfig({}).APP_SECRET, developmentSecret);
    const base = "PUBLIC_BASE_URL: must be http(s)://host, without a path";
    const operator = "OPERATOR_LISTEN: host:port is expected, an IPv6 address as [::1]:9090";
    const database = "DATABASE_URL: postgres://user:password@host:port/database is expected";
    const bucket =
      "AVATAR_STORE: must be an address as https://<key id>:<secret>@<host>/<bucket>?region=…";
    const oneAddress =
      "one host is expected; for failover give an address that leads to the present primary (server/runtime/README.md)";
    const redis = "REDIS_URL: redis://, rediss://, unix:/// or redis+cluster:// is expected";
    refused({}, [
      [{ APP_SECRET: "short" }, "APP_SECRET: at least 32 bytes"],
      [{ APP_SECRET_PREVIOUS: "short" }, "APP_SECRET_PREVIOUS: at least 32 bytes"],
      [{ PUBLIC_BASE_URL: "games.example" }, base],
      [{ PUBLIC_BASE_URL: "//games.example" }, base],
      [{ PUBLIC_BASE_URL: "ftp://games.example" }, base],
      [{ PUBLIC_BASE_URL: "javascript:alert(1)" }, base],
      [{ PUBLIC_BASE_URL: "https://games.example/path" }, base],
      [{ PUBLIC_BASE_URL: "https://games.example/?x=1" }, base],
      [{ PUBLIC_BASE_URL: "https://user:word@games.example" }, base],
      [{ PUBLIC_BASE_URL: "https://:word@games.example" }, base],
      [
        { CORS_ORIGINS: "https://a.example, null" },
        "CORS_ORIGINS: null is not an origin such as https://games.example",
      ],
      ...[
        "db.example",
        "mysql://db.example/games",
        "postgres://me:%zz@db/games",
        "postgres://me:word@db/games\npostgres://me:word@other/games",
      ].map((text): [Env, string] => [{ DATABASE_URL: text }, database]),
      ...[
        "postgres://me:word@a,b/games",
        "postgres://me:word@a:5432,b:5432/games",
        "postgres:///games?host=a,b",
        "postgres:///games?host=a&host=b",
        "postgres://a/games?port=5432%2C5433",
      ].map((text): [Env, string] => [{ DATABASE_URL: text }, `DATABASE_URL: ${oneAddress}`]),
      ...["redis://a,b:6379", "redis://:word@a:6379,b:6379", "rediss://a,b"].map(
        (text): [Env, string] => [
          { REDIS_URL: text },
          `REDIS_URL: ${oneAddress}; a Redis Cluster is redis+cluster://host:port,host:port`,
        ],
      ),
      [{ REDIS_URL: "redis://cache:99999" }, redis],
      [{ REDIS_URL: "redis://user:%zz@cache" }, redis],
      [{ REDIS_URL: "cache:6379" }, redis],
      [{ REDIS_URL: "redis://cache\nredis://other" }, redis],
      [
        { REDIS_URL: "redis://cache/games" },
        "REDIS_URL: the path must be the number of a database, as redis://host:port/0",
      ],
      [
        { REDIS_URL: "redis+cluster://cache:99999" },
        "REDIS_URL: redis+cluster://host:port,host:port is expected",
      ],
      [{ AVATAR_STORE: "https://key:word@store:99999/b" }, bucket],
      [{ AVATAR_STORE: "https://key:%zz@store/b" }, bucket],
      [
        { AVATAR_MODERATION_URL: "https://a.example:99999" },
        "AVATAR_MODERATION_URL: must be an address that begins with http:// or https://",
      ],
      [
        { SMTP_URL: "smtp://user:%zz@mail.example" },
        "SMTP_URL: must be an address as smtp://user:password@mail.example:587, or smtps://…",
      ],
      ...["9090", "::1:9090", "127.0.0.1:99999", "127.0.0.1:", "[x]:9090"].map(
        (text): [Record<string, string>, string] => [{ OPERATOR_LISTEN: text }, operator],
      ),
      [
        { TRUSTED_PROXIES: "10.0.0.0/8,nginx" },
        "TRUSTED_PROXIES: nginx is not an address or a CIDR range",
      ],
    ]);
  });

  it("is refused by its name and in words, not by a pattern", () => {
    const folders = ["DATA_DIR", "CACHE_DIR", "IMPORT_DIR"];
    const free = ["HOST", ...folders, "TOKEN_ISSUER", "GENERATOR_KEY", "OPERATOR_TOKEN"];
    for (const name of Object.keys(ConfigSchema.properties)) {
      const problems = problemsOf({ [name]: "?nonsense ^" });
      assert.equal(problems.length, free.includes(name) ? 0 : 1, name);
      for (const problem of problems) {
        assert.ok(problem.startsWith(`${name}: `), problem);
        assert.doesNotMatch(problem, /must match|[\\\n]|\(\?/);
      }
    }
    refused({}, [
      [
        { LOG_LEVEL: "loud" },
        "LOG_LEVEL: must be trace, debug, info, warn, error, fatal or silent",
      ],
      [{ SAMPLE_DATA: "maybe" }, 'SAMPLE_DATA: must be true or false, not "maybe"'],
      [{ PORT: "http" }, 'PORT: must be a whole number from 0 to 65535, not "http"'],
    ]);
  });

  it("is refused with every problem at once, whichever check finds it", () => {
    const problems = problemsOf({
      ...production,
      PORT: "http",
      SMTP_URL: "carrier pigeon",
      MAIL_DRIVER: "smtp",
      APP_SECRET: "short",
      PUBLIC_BASE_URL: "games.example",
      CORS_ORIGINS: "*",
      TRUSTED_PROXIES: "10.0.0.0/33",
    });
    assert.deepEqual(problems.map((problem) => problem.split(":")[0]).toSorted(), [
      "APP_SECRET",
      "CORS_ORIGINS",
      "PORT",
      "PUBLIC_BASE_URL",
      "SMTP_URL",
      "TRUSTED_PROXIES",
    ]);
  });

  it("has one spelling of the address of the service", () => {
    const config = parseConfig({ PUBLIC_BASE_URL: "HTTPS://Games.Example:443/" });
    assert.equal(publicBaseUrl(config), "https://games.example");
  });
});
