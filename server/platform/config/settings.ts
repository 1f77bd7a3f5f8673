import Type, { type Static } from "typebox";
import { oneOf, rules, type Rule } from "./config-rules.ts";
import { usableCores } from "./cpu-quota.ts";
import type { OauthProvider } from "./oauth-providers.ts";

const Bool = (fallback: boolean, description: string) =>
  Type.Boolean({ default: fallback, description });
const Int = (fallback: number, minimum: number, maximum: number, description: string) =>
  Type.Integer({ default: fallback, minimum, maximum, description });
const Score = (fallback: number, description: string) =>
  Type.Number({ default: fallback, minimum: 0, maximum: 1, description });
const Text = (fallback: string, description: string, rule?: Rule) =>
  Type.String({ default: fallback, description, ...rule });
/** A secret, or an address with a password: `<name>_FILE` may name a file that contains it (BOOT-40). */
const Secret = (description: string, rule?: Rule) =>
  Type.String({ default: "", description, isSecret: true, ...rule });

/** A start that keeps no data there may do without it where it cannot be written. */
export const defaultDataDir = ".data";

const maxWorkers = 256;

/**
 * Every setting of the service, read from the environment (BOOT-02, CFG-01). Defaults are for development; the README
 * table is generated from the descriptions.
 */
export const ConfigSchema = Type.Object({
  APP_ENV: Text(
    "development",
    "development, test or production",
    oneOf("development", "test", "production"),
  ),
  APP_DEBUG: Bool(false, "true adds the cause of a 5xx to the response"),
  APP_SECRET: Secret(
    "at least 32 random bytes, as `openssl rand -base64 32` makes them; every token key is derived from it",
  ),
  APP_SECRET_PREVIOUS: Secret("tokens signed with it are still accepted"),
  HOST: Text("127.0.0.1", "address the public listener binds"),
  PORT: Int(8080, 0, 65_535, "port of the public listener; 0 picks a free one"),
  OPERATOR_LISTEN: Text(
    "127.0.0.1:9090",
    "address and port of the operator listener, as 127.0.0.1:9090 or [::1]:9090; port 0 picks a free one",
  ),
  OPERATOR_BOOTSTRAP_TOKEN: Secret(
    "at least 32 random characters; an admin operator token that exists from the start",
  ),
  OPERATOR_TOKEN: Secret(
    "token of an operator, for console commands that need the running service; empty means OPERATOR_BOOTSTRAP_TOKEN",
  ),
  OPERATOR_URL: Text(
    "",
    "address of the operator listener in links and at the OpenID provider, without a path; empty means the address it listens on",
    rules.origin,
  ),
  OPERATOR_OIDC_ISSUER: Text(
    "",
    "OpenID provider at which operators may sign in, as https://id.example/realms/staff; its redirect address is OPERATOR_URL + /operator/login/oidc/callback",
    rules.webAddress,
  ),
  OPERATOR_OIDC_CLIENT_ID: Text("", "id of the service at that provider"),
  OPERATOR_OIDC_CLIENT_SECRET: Secret("secret of the service there; empty for a public client"),
  OPERATOR_OIDC_SCOPES: Text(
    "openid email profile",
    "scopes to ask for, parted by spaces",
    rules.scopes,
  ),
  OPERATOR_OIDC_CLAIM: Text(
    "groups",
    "claim whose value gives a role; of email only a verified one",
    rules.claim,
  ),
  OPERATOR_OIDC_ROLES: Text(
    "",
    "role by value of the claim, as team-games=operator,team-leads=admin; nobody else may sign in",
    rules.rolePairs,
  ),
  OPERATOR_WEBHOOK_URL: Secret(
    "gets each new or reopened group of failures as POST {event, id, code, peer, place, …, url}; may carry user:password@",
    rules.webAddress,
  ),
  OPERATOR_WEBHOOK_SECRET: Secret(
    "key of the HMAC-SHA-256 in their header X-Emberline-Signature; empty: they are not signed",
  ),
  DATA_DIR: Text(defaultDataDir, "folder of the embedded stores"),
  CACHE_DIR: Text(
    "",
    "folder of rebuildable files: compiled code, an unpacked Redis; empty means ~/.cache/emberline",
  ),
  IMPORT_DIR: Text(
    "",
    "folder below which the queue codex-import reads files; empty: it reads none",
  ),
  DATABASE_URL: Secret("Postgres; unset starts an embedded one"),
  REDIS_URL: Secret("Redis; unset starts redis-server or valkey-server"),
  MIGRATE_ON_START: Bool(
    true,
    "false leaves migrations to `console migrate --up`: a start refuses while some are pending",
  ),
  DATABASE_POOL: Int(10, 1, 200, "Postgres connections per process"),
  HTTP_WORKERS: Int(
    Math.min(usableCores(), maxWorkers),
    1,
    maxWorkers,
    "HTTP worker processes (default: number of cores that the process may use, by its control group too)",
  ),
  WORKER_PORTS: Text(
    "off",
    "off, auto (free ports) or the first of HTTP_WORKERS consecutive ports: a dedicated port for each HTTP worker, besides PORT",
    rules.firstPort,
  ),
  JOB_WORKERS: Int(1, 0, 64, "job worker processes"),
  SHUTDOWN_DELAY_SECONDS: Text(
    "",
    "seconds between a stop signal and the stop: /ready answers 503, everything is still served; empty means 5, outside production 0",
    rules.seconds,
  ),
  SHUTDOWN_TIMEOUT_SECONDS: Int(
    25,
    2,
    3600,
    "seconds from a stop signal to the end, the delay included; what has not ended by then is killed",
  ),
  READY_STORE_SECONDS: Int(
    30,
    0,
    86_400,
    "a store that has been away for this long makes /ready answer 503, at least 5; 0 means never",
  ),
  PUBLIC_LIVE_PATH: Text(
    "/live",
    "path of the liveness probe on the public listener, or off",
    rules.probePath,
  ),
  PUBLIC_READY_PATH: Text(
    "/ready",
    "path of the readiness probe on the public listener, or off",
    rules.probePath,
  ),
  LOG_LEVEL: Text(
    "",
    "trace, debug, info, warn, error, fatal or silent; empty means info, in development warn",
    oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: Text(
    "",
    "collector that gets traces by OTLP over HTTP, as http://127.0.0.1:4318; empty: there are none",
    rules.collector,
  ),
  OTEL_TRACES_SAMPLER_ARG: Score(1, "share of the requests and jobs that are traced"),
  PUBLIC_BASE_URL: Text(
    "",
    "address of the service in links, without a path; empty means the address it listens on; required in production",
  ),
  MARKETING_URL: Text(
    "",
    "address of the site with the status pages; empty means the service itself",
    rules.sitePrefix,
  ),
  TRUSTED_PROXIES: Text(
    "",
    "CIDR list; X-Forwarded-For and X-Forwarded-Proto are accepted from these only",
  ),
  KEEP_ALIVE: Bool(
    true,
    "false closes each connection after its response, for load balancers that keep idle connections for 8 s or longer",
  ),
  CORS_ORIGINS: Text("", "comma list of origins that may use credentials"),
  CORS_PUBLIC_DATA: Bool(false, "true lets any origin read public game data"),
  SSO_ALLOWED_HOSTS: Text(
    "",
    "comma list of hosts a sign-in may lead to, as a.com,*.b.com; empty means localhost outside production",
    rules.hosts,
  ),
  TOKEN_ISSUER: Text("platform", "iss claim of every token"),
  DEFAULT_REALM: Text("default", "slug of the default realm", rules.realm),
  GAME_DATA_REALM: Text("gamedata", "slug of the game-data realm", rules.realm),
  GAME_DATA_GAME: Text("gamedata", "game of the archive that the projection shows", rules.game),
  SAMPLE_DATA: Bool(
    true,
    "in development, imports an invented game when GAME_DATA_GAME has no data",
  ),
  RATE_LIMIT_LOGIN: Int(10, 1, 1_000_000, "logins per minute and address"),
  RATE_LIMIT_FACTOR: Type.Number({
    default: 1,
    minimum: 0,
    maximum: 1_000_000,
    description: "multiplies every rate limit; 0 disables them (refused in production)",
  }),
  LOCKOUT_THRESHOLD: Int(5, 1, 1000, "failed logins that lock an identifier"),
  LOCKOUT_SECONDS: Int(900, 1, 86_400, "window and length of the lock"),
  MAIL_DRIVER: Text(
    "",
    "smtp, memory (the development inbox) or log (sends nothing); empty means smtp when SMTP_URL is set, else memory",
    oneOf("smtp", "memory", "log"),
  ),
  SMTP_URL: Secret(
    "mail server, for example smtp://user:password@mail.example:587",
    rules.mailServer,
  ),
  MAIL_FROM: Text(
    "emberline <no-reply@localhost>",
    "sender of every mail; its name is the name of the service in mails",
    rules.sender,
  ),
  SMS_DRIVER: Text(
    "",
    "webhook, memory or log; empty means webhook when SMS_WEBHOOK_URL is set, else memory",
    oneOf("webhook", "memory", "log"),
  ),
  SMS_WEBHOOK_URL: Secret(
    "gets each text message as POST {id, to, text}; may carry user:password@",
    rules.webAddress,
  ),
  OPERATOR_INBOX: Text(
    "",
    "address that contact messages are forwarded to; empty means operator@localhost, in production nobody",
    rules.mailAddress,
  ),
  AVATAR_MODERATION: Text(
    "auto",
    "moderator of uploaded avatars: auto (the built-in classifier), manual (operators) or webhook",
    oneOf("auto", "manual", "webhook"),
  ),
  AVATAR_MODERATION_URL: Secret(
    "gets each picture as POST {upload_id, media_type, image}, answers {verdict, reason}; may carry user:password@",
    rules.webAddress,
  ),
  AVATAR_REJECT_SCORE: Score(0.85, "probability of explicit content that rejects a picture"),
  AVATAR_REVIEW_SCORE: Score(
    0.4,
    "probability of explicit or suggestive content that requires manual review",
  ),
  AVATAR_HASH_DISTANCE: Int(
    6,
    -1,
    32,
    "a picture that differs from a rejected one in up to this many of 64 bits is rejected too; -1 disables the comparison",
  ),
  AVATAR_MAX_BYTES: Int(
    12_582_912,
    1_024,
    20_971_520,
    "bytes of an uploaded avatar; PNG, GIF and AVIF 5 MiB at most",
  ),
  AVATAR_STORE: Secret(
    "where avatars are kept: https://<key id>:<secret>@<host>/<bucket>?region=… of an S3-compatible store; empty means a folder of DATA_DIR",
    rules.bucket,
  ),
  AVATAR_CDN_HOSTS: Text(
    "*.googleusercontent.com,avatars.githubusercontent.com,cdn.discordapp.com",
    "comma list of hosts, as a.com,*.b.com, where pictures of social logins may come from",
    rules.hosts,
  ),
  GENERATOR_URL: Text(
    "",
    "language model that writes questions: base address, to which /chat/completions is appended; empty means the built-in bank",
    rules.webAddress,
  ),
  GENERATOR_KEY: Secret("sent to it as a bearer token"),
  GENERATOR_MODELS: Text(
    "small,medium,large",
    "the three model names a caller may choose; the first is the default",
    rules.threeNames,
  ),
  GENERATOR_CONCURRENCY: Int(4, 1, 100, "concurrent calls of the language model per process"),
  GENERATOR_DAILY_TOKENS: Int(
    2_000_000,
    0,
    1_000_000_000_000,
    "tokens per UTC day over all processes, beyond which the bank is used; 0 means no limit",
  ),
  GENERATOR_PRICES: Text(
    "",
    "price of a million tokens, read and written, as small=0.15/0.6,large=3/15; for the cost metric",
    rules.prices,
  ),
  GENERATOR_VERIFY: Bool(
    true,
    "false stores questions without a second model call that verifies them",
  ),
  HUB_STREAMS_PER_ADDRESS: Int(500, 1, 1_000_000, "event streams one address may hold"),
  TOPIC_BASE: Text("/games/trivia", "prefix of event topics", rules.topic),
  LOBBY_STALE_SECONDS: Int(75, 1, 3600, "a silent seat counts as disconnected after this"),
  LOBBY_HOST_GRACE_SECONDS: Int(
    60,
    1,
    3600,
    "after this a disconnected host ends the lobby, and another seat may be taken",
  ),
  LOBBY_MIN_QUESTION_MS: Int(3000, 0, 60_000, "earliest next on an open question"),
});

/** Names of the settings of `Secret`. */
export const secretSettings: readonly string[] = Object.entries(ConfigSchema.properties)
  .filter(([, schema]) => "isSecret" in schema)
  .map(([name]) => name);

/** The settings, and the social logins of `OAUTH_<NAME>_…` (OA-01). */
export type Config = Static<typeof ConfigSchema> & { oauthProviders: readonly OauthProvider[] };
