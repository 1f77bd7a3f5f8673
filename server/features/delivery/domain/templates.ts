import { signInNotices } from "./sign-in-notices.ts";

/**
 * Role of a parameter: `code` and `link` are highlighted and copied by the inbox, `quote` keeps its line breaks,
 * `leave` becomes the footer, `unsubscribe` the one-click header, `reply` the Reply-To header.
 */
export type ParamRole = "text" | "code" | "link" | "quote" | "leave" | "unsubscribe" | "reply";

/** One language of a template. `{name}` is replaced by the parameter, `{brand}` by the name of the service. */
export interface TemplateText {
  subject: string;
  /** Paragraphs; a paragraph of one parameter is rendered by its role. */
  paragraphs: readonly string[];
  /** Label of the link's button in HTML. */
  action?: string;
}

export interface Template {
  kind: "mail" | "sms";
  params: Readonly<Record<string, ParamRole>>;
  /** Seconds after which the message is obsolete and not sent. */
  lifeSeconds: number;
  /** Goes to the operators: the limit per address does not apply. */
  isInternal?: boolean;
  /** Notice of an account change: an attacker must not suppress it by requesting other messages. */
  isNotice?: boolean;
  texts: Readonly<Record<"en" | "de", TemplateText>>;
}

const minutes = (count: number) => count * 60;
const hours = (count: number) => count * 3_600;
const days = (count: number) => count * 86_400;

/**
 * Every message of the service. A mail to an unverified address has no text of a user: otherwise anyone could send
 * their text to anybody.
 */
export const templates = {
  "verify-email": {
    kind: "mail",
    params: { link: "link" },
    lifeSeconds: hours(24),
    texts: {
      en: {
        subject: "Confirm your email address",
        paragraphs: [
          "Please confirm that this address belongs to your {brand} account.",
          "{link}",
          "The link works once, within 24 hours. If you did not create an account, open it all the same and say so: whoever did is then shut out.",
        ],
        action: "Confirm address",
      },
      de: {
        subject: "Bestätige deine E-Mail-Adresse",
        paragraphs: [
          "Bitte bestätige, dass diese Adresse zu deinem Konto bei {brand} gehört.",
          "{link}",
          "Der Link gilt einmal und 24 Stunden lang. Falls du kein Konto angelegt hast, öffne ihn trotzdem und sag es: wer es war, ist dann ausgesperrt.",
        ],
        action: "Adresse bestätigen",
      },
    },
  },
  "sign-in-code": {
    kind: "mail",
    params: { code: "code" },
    lifeSeconds: minutes(5),
    texts: {
      en: {
        subject: "Your sign-in code",
        paragraphs: [
          "Use this code to sign in to {brand}:",
          "{code}",
          "It works once, within 5 minutes. We never ask for it; do not pass it on.",
        ],
      },
      de: {
        subject: "Dein Anmeldecode",
        paragraphs: [
          "Mit diesem Code meldest du dich bei {brand} an:",
          "{code}",
          "Er gilt einmal und 5 Minuten lang. Wir fragen nie danach; gib ihn nicht weiter.",
        ],
      },
    },
  },
  "reset-password": {
    kind: "mail",
    params: { link: "link" },
    lifeSeconds: hours(1),
    texts: {
      en: {
        subject: "Set a new password",
        paragraphs: [
          "Somebody asked for a new password for your {brand} account.",
          "{link}",
          "The link works once, within one hour. If it was not you, ignore this mail: your password stays as it is.",
        ],
        action: "Set a new password",
      },
      de: {
        subject: "Neues Passwort setzen",
        paragraphs: [
          "Für dein Konto bei {brand} wurde ein neues Passwort angefordert.",
          "{link}",
          "Der Link gilt einmal und eine Stunde lang. Falls du es nicht warst, ist nichts zu tun: dein Passwort bleibt, wie es ist.",
        ],
        action: "Neues Passwort setzen",
      },
    },
  },
  "password-changed": {
    kind: "mail",
    params: {},
    lifeSeconds: days(3),
    isNotice: true,
    texts: {
      en: {
        subject: "Your password was changed",
        paragraphs: [
          "The password of your {brand} account was changed, and every other device was signed out.",
          "If it was not you, set a new password at once.",
        ],
      },
      de: {
        subject: "Dein Passwort wurde geändert",
        paragraphs: [
          "Das Passwort deines Kontos bei {brand} wurde geändert, alle anderen Geräte wurden abgemeldet.",
          "Falls du es nicht warst, setze sofort ein neues Passwort.",
        ],
      },
    },
  },
  "email-changed": {
    kind: "mail",
    params: {},
    lifeSeconds: days(3),
    isNotice: true,
    texts: {
      en: {
        subject: "Your email address was changed",
        paragraphs: [
          "Your {brand} account has another email address now; this one no longer belongs to it.",
          "If it was not you, write to us.",
        ],
      },
      de: {
        subject: "Deine E-Mail-Adresse wurde geändert",
        paragraphs: [
          "Dein Konto bei {brand} hat jetzt eine andere E-Mail-Adresse; diese gehört nicht mehr dazu.",
          "Falls du es nicht warst, schreib uns.",
        ],
      },
    },
  },
  "address-shared": {
    kind: "mail",
    params: {},
    lifeSeconds: days(14),
    isNotice: true,
    texts: {
      en: {
        subject: "Two of your accounts had this address",
        paragraphs: [
          "Two {brand} accounts had this address in different spellings. An address now belongs to one account: the one that had confirmed it, else the older one, keeps it.",
          "The other account is as it was, but has no confirmed address any more. Sign in to it with its user name and give it another address.",
          "If you know of one account only, somebody else had used your address; there is nothing to do.",
        ],
      },
      de: {
        subject: "Zwei deiner Konten hatten diese Adresse",
        paragraphs: [
          "Zwei Konten bei {brand} hatten diese Adresse in verschiedenen Schreibweisen. Eine Adresse gehört jetzt zu einem Konto: das, das sie bestätigt hatte, sonst das ältere, behält sie.",
          "Das andere Konto ist, wie es war, hat aber keine bestätigte Adresse mehr. Melde dich dort mit dem Benutzernamen an und gib ihm eine andere Adresse.",
          "Falls du nur ein Konto kennst, hatte jemand anderes deine Adresse benutzt; dann ist nichts zu tun.",
        ],
      },
    },
  },
  "address-confirmed": {
    kind: "mail",
    params: {},
    lifeSeconds: days(3),
    isNotice: true,
    texts: {
      en: {
        subject: "Your address was confirmed",
        paragraphs: [
          "You have shown that this address is yours: with a code, a link or an answer from this mailbox. It is confirmed for your {brand} account.",
          "Anybody could have entered the address before. So what came to the account by others was ended: signed-in devices, a password, a phone number, API keys, programs and linked logins. Your name, progress and wallet are as they were, and your account lists what was ended.",
          "If the account has no password now, ask for a new one where you sign in.",
        ],
      },
      de: {
        subject: "Deine Adresse wurde bestätigt",
        paragraphs: [
          "Du hast gezeigt, dass diese Adresse dir gehört: mit einem Code, einem Link oder einer Antwort aus diesem Postfach. Sie ist für dein Konto bei {brand} bestätigt.",
          "Vorher konnte sie jeder eintragen. Darum wurde beendet, was durch andere zum Konto kam: angemeldete Geräte, ein Passwort, eine Telefonnummer, API-Schlüssel, Programme und verknüpfte Anmeldungen. Name, Spielstand und Guthaben sind, wie sie waren, und dein Konto führt auf, was beendet wurde.",
          "Falls das Konto jetzt kein Passwort hat, fordere bei der Anmeldung ein neues an.",
        ],
      },
    },
  },
  "subscribe-verify": {
    kind: "mail",
    params: { link: "link", leave: "leave", unsubscribe: "unsubscribe" },
    lifeSeconds: hours(24),
    texts: {
      en: {
        subject: "Confirm your subscription",
        paragraphs: [
          "Please confirm that you want news from {brand} at this address.",
          "{link}",
          "The link works within 24 hours. Without it you get nothing more from us.",
        ],
        action: "Subscribe",
      },
      de: {
        subject: "Bestätige dein Abonnement",
        paragraphs: [
          "Bitte bestätige, dass du Neuigkeiten von {brand} an diese Adresse möchtest.",
          "{link}",
          "Der Link gilt 24 Stunden lang. Ohne ihn schreiben wir dir nicht mehr.",
        ],
        action: "Abonnieren",
      },
    },
  },
  "subscribe-welcome": {
    kind: "mail",
    params: { leave: "leave", unsubscribe: "unsubscribe" },
    lifeSeconds: days(3),
    texts: {
      en: {
        subject: "You are subscribed",
        paragraphs: ["From now on you get news from {brand} at this address. Welcome!"],
      },
      de: {
        subject: "Du hast abonniert",
        paragraphs: ["Ab jetzt bekommst du Neuigkeiten von {brand} an diese Adresse. Willkommen!"],
      },
    },
  },
  contact: {
    kind: "mail",
    params: {
      fullname: "text",
      email: "reply",
      discovery: "text",
      subject: "text",
      message: "quote",
    },
    lifeSeconds: days(14),
    isInternal: true,
    texts: {
      en: {
        subject: "Contact: {subject}",
        paragraphs: ["From {fullname}, {email} (heard of us by: {discovery})", "{message}"],
      },
      de: {
        subject: "Kontakt: {subject}",
        paragraphs: ["Von {fullname}, {email} (kennt uns durch: {discovery})", "{message}"],
      },
    },
  },
  ...signInNotices,
  "sign-in-code-sms": {
    kind: "sms",
    params: { code: "code" },
    lifeSeconds: minutes(5),
    texts: {
      en: { subject: "Sign-in code", paragraphs: ["{brand}: {code} is your sign-in code."] },
      de: { subject: "Anmeldecode", paragraphs: ["{brand}: {code} ist dein Anmeldecode."] },
    },
  },
  "phone-code": {
    kind: "sms",
    params: { code: "code" },
    lifeSeconds: minutes(5),
    texts: {
      en: { subject: "Confirmation code", paragraphs: ["{brand}: {code} confirms this number."] },
      de: { subject: "Bestätigungscode", paragraphs: ["{brand}: {code} bestätigt diese Nummer."] },
    },
  },
} as const satisfies Record<string, Template>;

export type TemplateName = keyof typeof templates;
export type ParamsOf<T extends TemplateName> = Readonly<
  Record<keyof (typeof templates)[T]["params"], string>
>;

/** The stored row that accepts the code or link of a message. */
export interface Credential {
  /** The stored hash of the code or token. */
  hash: string;
  /** Absent for a subscription, which belongs to an address. */
  playerId?: number;
}

/**
 * A message to send: recipient, template, language (an unknown one becomes English) and realm of the branding
 * (default: the default realm). With `credential` it is sent only while its code or link is valid.
 */
export type NewMessage = {
  [T in TemplateName]: {
    template: T;
    to: string;
    locale: string;
    realm?: string | null;
    params: ParamsOf<T>;
    credential?: Credential;
  };
}[TemplateName];

/** Names of the notices, or of all other templates. */
export function templatesOf(isNotice: boolean): string[] {
  const all: [string, Template][] = Object.entries(templates);
  return all.filter(([, one]) => (one.isNotice === true) === isNotice).map(([name]) => name);
}

/** The template of this name; null for a row of another release. */
export function findTemplate(name: string): Template | null {
  return Object.hasOwn(templates, name) ? templates[name as TemplateName] : null;
}
