import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Static } from "typebox";
import Value from "typebox/value";
import { crossChecks, developmentSecret } from "./config-checks.ts";
import { readOauthProviders } from "./oauth-providers.ts";
import { forgetSecretFiles, readSecretFiles } from "./secret-files.ts";
import { ConfigSchema, type Config } from "./settings.ts";
import { readTextSync } from "../text/text-file.ts";

export type { Config } from "./settings.ts";

/** Thrown with every problem at once; entry points print it and exit 1. */
export class ConfigError extends Error {
  readonly problems: string[];
  readonly isProduction: boolean;
  constructor(problems: string[], isProduction: boolean) {
    super(`Configuration problems:\n${problems.map((p) => `  - ${p}`).join("\n")}`);
    this.name = "ConfigError";
    this.problems = problems;
    this.isProduction = isProduction;
  }
}

const booleans: Record<string, boolean> = { true: true, "1": true, false: false, "0": false };

function coerce(type: unknown, text: string): unknown {
  if (type === "boolean") return booleans[text.toLowerCase()] ?? text;
  if (type === "integer" || type === "number")
    return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  return text;
}

/** Parses and checks an environment; throws ConfigError with every invalid value. */
export function parseConfig(given: Record<string, string | undefined>): Config {
  const raw: Record<string, unknown> = {};
  const { env, problems } = readSecretFiles(given);
  const invalid = new Set(problems.map(nameIn));
  for (const [name, schema] of Object.entries(ConfigSchema.properties)) {
    const text = env[name]?.trim();
    const isUnset = text === undefined || text === "";
    const fallback: unknown = Value.Default(schema, undefined);
    raw[name] = isUnset ? fallback : coerce(schema.type, text);
    if (isUnset || Value.Check(schema, raw[name])) continue;
    // A text may be a secret, or an address that contains one.
    const shown = schema.type === "string" ? "" : `, not ${JSON.stringify(text)}`;
    problems.push(`${name}: ${describeRule(schema)}${shown}`);
    invalid.add(name);
    raw[name] = fallback;
  }
  const isProduction = raw["APP_ENV"] === "production";
  const { providers, problems: flaws } = readOauthProviders(env, isProduction);
  problems.push(...flaws);
  const config: Config = {
    ...(raw as Static<typeof ConfigSchema>),
    oauthProviders: providers,
  };
  const isNew = (problem: string) => !invalid.has(nameIn(problem));
  problems.push(...crossChecks(config).filter(isNew));
  if (problems.length > 0) throw new ConfigError(problems, isProduction);
  if (config.APP_SECRET === "") config.APP_SECRET = developmentSecret;
  return config;
}

/** The setting that a problem begins with. */
const nameIn = (problem: string) => problem.split(":", 1)[0] ?? "";

/** `.env` in the working directory, overlaid by the real environment, parsed. */
export function loadConfig(overrides: Record<string, string> = {}): Config {
  const file = resolve(".env");
  const fromFile = existsSync(file) ? parseEnv(readTextSync(file)) : {};
  return parseConfig({ ...fromFile, ...process.env, ...overrides });
}

/** Environment for a child process with the same configuration. */
export function configToEnv(config: Config): Record<string, string> {
  // Social logins are not in the table: a child reads them from its inherited environment.
  const { oauthProviders: _, ...settings } = config;
  const own = Object.entries(settings).map(([name, value]) => [name, String(value)]);
  return { ...Object.fromEntries(own), ...forgetSecretFiles() };
}

function describeRule(schema: {
  type?: unknown;
  allowed?: unknown;
  minimum?: unknown;
  maximum?: unknown;
}) {
  if (schema.allowed) return `must be ${String(schema.allowed)}`;
  if (schema.type === "boolean") return "must be true or false";
  const kind = schema.type === "integer" ? "a whole number" : "a number";
  return `must be ${kind} from ${String(schema.minimum)} to ${String(schema.maximum)}`;
}
