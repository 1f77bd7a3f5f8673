import { randomBytes } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { redactUrl } from "../runtime/startup-banner.ts";
import { listenUrl } from "../platform/net/addresses.ts";
import type { Config } from "../platform/config/config.ts";
import { secretSettings } from "../platform/config/settings.ts";
import { accountCommands } from "./accounts.ts";
import { auditCommands } from "./audit.ts";
import { backupCommands } from "./backups.ts";
import { Refusal, type ConsoleCommand, type Options } from "./command.ts";
import { doctorCommands } from "./doctor.ts";
import { fleetCommands } from "./fleet.ts";
import { challengeCommands } from "./challenges.ts";
import { configTable, envExample } from "./config-table.ts";
import { importCommands } from "./imports.ts";
import { inDatabase, refuseDuplicate } from "./in-database.ts";
import { maintenanceCommands } from "./maintenance.ts";
import { migrationCommands } from "./migrations.ts";
import { probeCommands } from "./probe.ts";
import { projectionCommands } from "./projection.ts";
import { oauthCommands } from "./oauth.ts";
import { queueCommands } from "./queues.ts";
import { realmCommands } from "./realms.ts";
import { walletCommands } from "./wallet.ts";
import { workerCommands } from "./workers.ts";
import { addOperator, allOperators, endOperator } from "../features/operators/domain/operators.ts";
import { hashToken } from "../operator/session/identity.ts";
import { operatorRoles } from "../http/auth/auth.ts";

/** Secrets that are addresses: shown without their password. */
const shownAddresses = ["DATABASE_URL", "REDIS_URL"];
const maxName = 64;
const healthLimitMs = 5_000;

export const commands: readonly ConsoleCommand[] = [
  {
    name: "config",
    summary: "Print every setting without secrets",
    optional: [
      ["--markdown", "print the table of the README instead"],
      ["--env", "print .env.example instead"],
    ],
    run: showConfig,
  },
  { name: "health", summary: "Check the health of the running service", run: checkHealth },
  ...doctorCommands,
  ...probeCommands,
  ...migrationCommands,
  ...fleetCommands,
  ...maintenanceCommands,
  ...backupCommands,
  {
    name: "operator:create",
    summary: "Create an operator; its token is shown once",
    required: [
      ["--name <name>", "up to 64 characters, unique"],
      ["--role <role>", operatorRoles.join(", ")],
    ],
    run: createOperator,
  },
  {
    name: "operator:revoke",
    summary: "Revoke an operator's token and end the browser sessions",
    required: [["--name <name>", "name given at creation"]],
    run: revokeOperator,
  },
  { name: "operator:list", summary: "List the operators", run: showOperators },
  ...auditCommands,
  ...realmCommands,
  ...oauthCommands,
  ...accountCommands,
  { name: "questions:check", summary: "Check every question of the built-in bank", run: checkBank },
  ...walletCommands,
  ...queueCommands,
  ...workerCommands,
  ...importCommands,
  ...projectionCommands,
  ...challengeCommands,
];

async function showConfig(config: Config, options: Options) {
  if (options["markdown"]) return configTable();
  if (options["env"]) return envExample();
  const show = (name: string, value: unknown) => {
    const isHidden = secretSettings.includes(name) && !shownAddresses.includes(name);
    if (isHidden) return value === "" ? "" : "(set)";
    return typeof value === "string" ? redactUrl(value) : value;
  };
  const { oauthProviders, ...settings } = config;
  const shown = Object.entries(settings).map(([name, value]) => [name, show(name, value)]);
  return { ...Object.fromEntries(shown), oauthProviders: oauthProviders.map(({ id }) => id) };
}

async function checkHealth(config: Config): Promise<Record<string, unknown>> {
  const url = `${listenUrl(config)}/v1/health-check`;
  const response = await fetch(url, { signal: AbortSignal.timeout(healthLimitMs) }).catch(
    () => null,
  );
  if (response === null) throw new Refusal(`health:unreachable no response from ${url}`);
  const answer: unknown = await response.json().catch(() => null);
  const body = (answer as { body?: { status?: unknown; uptime?: unknown } } | null)?.body;
  if (response.status !== 200)
    throw new Refusal(`health:failed ${url} returned ${response.status}`);
  return { url, status: body?.status ?? "unknown", uptime: body?.uptime ?? "unknown" };
}

async function createOperator(config: Config, options: Options) {
  const name = String(options["name"]).trim();
  const role = operatorRoles.find((each) => each === options["role"]);
  if (name === "" || name.length > maxName)
    throw new Refusal("operator:invalid_name 1 to 64 characters");
  if (role === undefined)
    throw new Refusal(`operator:invalid_role one of ${operatorRoles.join(", ")}`);
  const token = randomBytes(24).toString("base64url");
  const operator = { name, role, tokenHash: hashToken(token) };
  const duplicate = refuseDuplicate("operator:exists this name has already been used");
  await inDatabase(config, (em) => addOperator(em, operator).catch(duplicate), {
    action: "operator:create",
    target: name,
  });
  return { name, role, token };
}

async function revokeOperator(config: Config, options: Options) {
  const name = String(options["name"]);
  const make = async (em: EntityManager) => {
    if (!(await endOperator(em, name, new Date()))) throw new Refusal("operator:not_found");
    return { name, is_revoked: true };
  };
  return inDatabase(config, make, { action: "operator:revoke", target: name });
}

async function showOperators(config: Config) {
  return inDatabase(config, async (em) => ({ operators: await allOperators(em) }));
}

async function checkBank(): Promise<Record<string, unknown>> {
  const { listBank } = await import("../features/questions/providers/question-bank/index.ts");
  const { checkQuestions } = await import("../features/questions/providers/question-bank/check.ts");
  const all = await listBank();
  const problems = checkQuestions(all);
  if (problems.length === 0) return { num_questions: all.length, num_problems: 0 };
  const shown = problems.slice(0, 20).map(({ question, problem }) => `  ${problem}: ${question}`);
  throw new Refusal([`questions:invalid ${problems.length} of ${all.length}`, ...shown].join("\n"));
}
