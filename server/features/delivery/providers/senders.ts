import type { Config } from "../../../platform/config/config.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import { createSmtpMailer } from "./mailer.ts";
import { Fault } from "../../../platform/faults/fault.ts";
import type { Sender, Senders } from "./messages.ts";
import { createSmsWebhook } from "./sms-webhook.ts";

/** The configured delivery drivers (BOOT-05, USR-10). */
export function createSenders(config: Config, log: Logger): Senders {
  return {
    mail: senderOf(config, log, {
      driver: config.MAIL_DRIVER,
      url: config.SMTP_URL,
      setting: "SMTP_URL",
      open: (url) => createSmtpMailer({ url, from: config.MAIL_FROM }),
    }),
    sms: senderOf(config, log, {
      driver: config.SMS_DRIVER,
      url: config.SMS_WEBHOOK_URL,
      setting: "SMS_WEBHOOK_URL",
      open: createSmsWebhook,
    }),
  };
}

interface Choice<M> {
  driver: string;
  url: string;
  setting: string;
  open: (url: string) => Sender<M>;
}

function senderOf<M extends { id: string }>(
  config: Config,
  log: Logger,
  { driver, url, setting, open }: Choice<M>,
): Sender<M> {
  if (driver === "log") return logSender(log);
  if (driver === "memory") return inboxSender();
  if (url !== "") return open(url);
  // Production has no inbox: messages fail visibly until a driver is configured.
  return config.APP_ENV === "production" ? noSender(setting) : inboxSender();
}

/** Keeps the message for the development inbox. */
function inboxSender<M>(): Sender<M> {
  return { name: "memory", keepsContent: true, send: async () => {}, close: () => {} };
}

/** Logs that there was a message, without its content (S27). */
function logSender<M extends { id: string }>(log: Logger): Sender<M> {
  const send = async ({ id }: M) =>
    log.info({ event: "message_logged", message: id }, "message not sent: the driver is log");
  return { name: "log", keepsContent: false, send, close: () => {} };
}

function noSender<M>(setting: string): Sender<M> {
  const send = async () => {
    throw new Fault("delivery.no_driver", { text: `set ${setting}` });
  };
  return { name: "none", keepsContent: false, send, close: () => {} };
}
