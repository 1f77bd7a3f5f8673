import type { Config } from "../platform/config/config.ts";

/** Milliseconds of each startup step, in order. */
export type StartTimes = readonly (readonly [part: string, ms: number])[];

export interface BannerFacts {
  version: string;
  config: Config;
  url: string;
  operatorUrl: string;
  /** Empty in production, where it is not printed. */
  operatorToken: string;
  databaseUrl: string;
  redisUrl: string;
  isLocal: { postgres: boolean; redis: boolean };
  pid: number;
  times: StartTimes;
}

const labelWidth = 11;
const style = {
  bold: ["\u001b[1m", "\u001b[22m"],
  dim: ["\u001b[2m", "\u001b[22m"],
  accent: ["\u001b[38;5;208m", "\u001b[39m"],
} as const;

/** The startup banner: addresses, operator token, how to stop, a first request (BOOT-01). */
export function startupBanner(facts: BannerFacts, hasColor: boolean): string {
  const paint = (name: keyof typeof style, text: string) =>
    hasColor ? `${style[name][0]}${text}${style[name][1]}` : text;
  const rows = [...addressRows(facts), ...processRows(facts)];
  const total = facts.times.reduce((sum, [, ms]) => sum + ms, 0);
  const head = `${paint("accent", paint("bold", "emberline"))} ${facts.version}`;
  const parts = facts.times.map(([part, ms]) => `${part} ${seconds(ms)}`).join(", ");
  const lines = [
    `${head}  ${facts.config.APP_ENV}, ready in ${paint("bold", seconds(total))}  ${paint("dim", `(${parts})`)}`,
    "",
    ...rows.map(([label, text]) => `${paint("dim", label.padEnd(labelWidth))}${text}`),
    "",
    paint("dim", "A first request makes a guest player:"),
    firstRequest(facts.url),
  ];
  return `\n${lines.map((line) => (line === "" ? "" : `  ${line}`)).join("\n")}\n\n`;
}

function addressRows(facts: BannerFacts): [string, string][] {
  const login = facts.operatorToken === "" ? "" : `  token ${facts.operatorToken}`;
  return [
    ["Play", `${facts.url}/play`],
    ["Game data", `${facts.url}/codex`],
    ["API", `${facts.url}/v1`],
    ["API docs", `${facts.url}/docs`],
    ...inboxRow(facts),
    ["Operator", `${facts.operatorUrl}/operator${login}`],
  ];
}

function inboxRow({ config, url }: BannerFacts): [string, string][] {
  return config.APP_ENV === "production" ? [] : [["Inbox", `${url}/inbox`]];
}

function processRows(facts: BannerFacts): [string, string][] {
  const { HTTP_WORKERS: http, JOB_WORKERS: jobs, WORKER_PORTS: first } = facts.config;
  const ports = first === "off" ? "" : ` from port ${first}`;
  const origin = (isLocal: boolean) => (isLocal ? "embedded, " : "");
  return [
    ["Postgres", origin(facts.isLocal.postgres) + redactUrl(facts.databaseUrl)],
    ["Redis", origin(facts.isLocal.redis) + redactUrl(facts.redisUrl)],
    ["Processes", `pid ${facts.pid}, HTTP workers ${http}${ports}, job workers ${jobs}`],
    ["Stop", `Ctrl-C, or kill ${facts.pid}`],
  ];
}

function firstRequest(url: string): string {
  return `curl -s -X POST ${url}/v1/gateway/guest -H 'Content-Type: application/json' -d '{}'`;
}

export function redactUrl(url: string): string {
  return url.replace(/(:\/\/[^:@/]*):[^@/]*@/, "$1:***@");
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
