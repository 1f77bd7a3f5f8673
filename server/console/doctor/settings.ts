import type { Config } from "../../platform/config/config.ts";
import { developmentSecret } from "../../platform/config/config-checks.ts";
import { usableCores } from "../../platform/config/cpu-quota.ts";
import { weaknessOf } from "../../platform/config/secret-strength.ts";
import { shutdownDelaySeconds } from "../../platform/config/shutdown.ts";
import { advice, finding, type Finding } from "./finding.ts";

/** A balancer that asks every second removes an instance after two failures; one second is to spare. */
const leastDelaySeconds = 3;
const everybody = ["0.0.0.0/0", "::/0"];

/** What a start in production accepts although it may not be meant. */
export function settingsFindings(config: Config): Finding[] {
  return [
    finding(
      "environment",
      config.APP_ENV !== "production" && {
        found: `APP_ENV is ${config.APP_ENV}: development helpers are on`,
        todo: "set APP_ENV=production",
      },
      "production",
    ),
    finding("secret", secretFault(config), "APP_SECRET looks random"),
    advice(
      "bootstrap token",
      config.OPERATOR_BOOTSTRAP_TOKEN !== "" && {
        found: "OPERATOR_BOOTSTRAP_TOKEN is set: an admin token without a name",
        todo: "make operators with console operator:create, then unset it",
      },
      "OPERATOR_BOOTSTRAP_TOKEN is not set",
    ),
    finding("public address", publicAddressFault(config), config.PUBLIC_BASE_URL),
    proxiesFinding(config),
    ...deliveryFindings(config),
    advice(
      "questions",
      config.GENERATOR_URL === "" && {
        found: "no language model: questions come from the built-in bank",
        todo: "set GENERATOR_URL and GENERATOR_KEY if generated questions are wanted",
      },
      "a language model is set",
    ),
    ...processFindings(config),
    finding(
      "limits",
      config.RATE_LIMIT_FACTOR !== 1 && {
        found: `RATE_LIMIT_FACTOR multiplies every rate limit by ${config.RATE_LIMIT_FACTOR}`,
        todo: "set it to 1 unless the limits are meant to differ",
        verdict: config.RATE_LIMIT_FACTOR === 0 ? "problem" : "warning",
      },
      "rate limits are as documented",
    ),
    finding(
      "log",
      logFault(config),
      `LOG_LEVEL ${config.LOG_LEVEL || "info"}, causes of failures are not sent to clients`,
    ),
  ];
}

function secretFault({ APP_SECRET: secret }: Config) {
  const weakness =
    secret === developmentSecret ? "is the secret of development" : weaknessOf(secret);
  if (weakness === null) return null;
  return { found: `APP_SECRET ${weakness.split(";", 1)[0]}`, todo: "openssl rand -base64 32" };
}

function publicAddressFault({ PUBLIC_BASE_URL: base }: Config) {
  const todo = "set PUBLIC_BASE_URL to the https address that players use";
  if (base === "") return { found: "PUBLIC_BASE_URL is not set", todo };
  const { protocol, hostname } = new URL(base);
  if (protocol !== "https:") return { found: `PUBLIC_BASE_URL is not https: ${base}`, todo };
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(hostname);
  return isLocal && { found: `PUBLIC_BASE_URL is an address of this machine: ${base}`, todo };
}

function proxiesFinding({ TRUSTED_PROXIES: proxies }: Config): Finding {
  const todo = "set TRUSTED_PROXIES to the addresses of the proxies in front";
  const isOpen = everybody.some((range) => proxies.split(",").some((one) => one.trim() === range));
  if (isOpen)
    return finding(
      "proxies",
      { found: "TRUSTED_PROXIES has every address: clients may forge theirs", todo },
      "",
    );
  const found =
    "TRUSTED_PROXIES is not set: behind a proxy all players share the limits of one address";
  return advice("proxies", proxies === "" && { found, todo }, `TRUSTED_PROXIES ${proxies}`);
}

function deliveryFindings(config: Config): Finding[] {
  const sendsMail = config.MAIL_DRIVER === "smtp" || (!config.MAIL_DRIVER && config.SMTP_URL);
  const sendsTexts =
    config.SMS_DRIVER === "webhook" || (!config.SMS_DRIVER && config.SMS_WEBHOOK_URL);
  return [
    finding(
      "mail",
      !sendsMail && {
        found: "no mail is sent: players cannot prove addresses or reset passwords",
        todo: "set SMTP_URL and MAIL_FROM",
      },
      "a mail server is set",
    ),
    finding(
      "mail sender",
      /@localhost>?$/.test(config.MAIL_FROM) && {
        found: `MAIL_FROM is ${config.MAIL_FROM}: mail servers refuse it`,
        todo: "set MAIL_FROM to an address of your domain",
      },
      config.MAIL_FROM,
    ),
    advice(
      "text messages",
      !sendsTexts && {
        found: "no text message is sent: signing in by phone is not possible",
        todo: "set SMS_WEBHOOK_URL if it is wanted",
      },
      "a webhook is set",
    ),
    advice(
      "contact messages",
      config.OPERATOR_INBOX === "" && {
        found: "OPERATOR_INBOX is not set: contact messages are forwarded to nobody",
        todo: "set OPERATOR_INBOX to your address",
      },
      "contact messages are forwarded",
    ),
  ];
}

function processFindings(config: Config): Finding[] {
  const delay = shutdownDelaySeconds(config);
  const cores = usableCores();
  return [
    advice(
      "stop",
      delay < leastDelaySeconds && {
        found: `SHUTDOWN_DELAY_SECONDS is ${delay}: a balancer may still send requests to a closed port`,
        todo: "set it to the interval times the failures of the balancer's check, plus a second",
      },
      `${delay} s of notice for balancers, at most ${config.SHUTDOWN_TIMEOUT_SECONDS} s in all`,
    ),
    advice(
      "workers",
      config.HTTP_WORKERS > cores && {
        found: `${config.HTTP_WORKERS} HTTP workers share ${cores} usable cores`,
        todo: "leave HTTP_WORKERS unset, or raise the quota",
      },
      `${config.HTTP_WORKERS} HTTP workers on ${cores} usable cores, ${config.JOB_WORKERS} job workers`,
    ),
  ];
}

function logFault({ APP_DEBUG, LOG_LEVEL }: Config) {
  if (APP_DEBUG)
    return { found: "APP_DEBUG sends the causes of failures to clients", todo: "unset APP_DEBUG" };
  if (!["error", "fatal", "silent"].includes(LOG_LEVEL)) return null;
  const found = `LOG_LEVEL ${LOG_LEVEL} hides warnings`;
  return { found, todo: "unset LOG_LEVEL", verdict: "warning" as const };
}
