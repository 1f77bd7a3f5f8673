import type { Origin } from "./origin.ts";
import { escapeHtml } from "../../platform/text/markup.ts";

type Language = "en" | "de";

export type Question =
  /** `origin`: null when the reader is known to have entered the address. */
  | { type: "account"; email: string; origin: Origin | null }
  | { type: "subscribe" | "unsubscribe" | "restore"; email: string };

const texts = {
  en: {
    account: {
      title: "Email address",
      ask: "Confirm that this address belongs to your account:",
      yes: "Confirm address",
    },
    subscribe: {
      title: "Mailing list",
      ask: "Do you want our news at this address?",
      yes: "Subscribe",
    },
    unsubscribe: {
      title: "Mailing list",
      ask: "Do you want no more news at this address?",
      yes: "Unsubscribe",
    },
    restore: {
      title: "Email address",
      ask: "Give your account this address again? Later changes are undone too, every device is signed out, what was added since is removed, and you choose a new password.",
      yes: "Yes, undo the change",
    },
    stranger: "Somebody made an account with this address. Was that you?",
    name: "Name",
    made: "Made",
    set: "Address entered",
    from: "From",
    agent: "With",
    unknown: "not known",
    mine: "Yes, that was me",
    notMine: "No, that was not me",
    consequence:
      "If it was not you, everything they attached to the account ends, their password included, and you choose a password of your own.",
    removal:
      "If it was not you, the address is taken off the account, which had another one before.",
  },
  de: {
    account: {
      title: "E-Mail-Adresse",
      ask: "Bestätige, dass diese Adresse zu deinem Konto gehört:",
      yes: "Adresse bestätigen",
    },
    subscribe: {
      title: "Mailingliste",
      ask: "Möchtest du unsere Neuigkeiten an diese Adresse?",
      yes: "Abonnieren",
    },
    unsubscribe: {
      title: "Mailingliste",
      ask: "Möchtest du keine Neuigkeiten mehr an diese Adresse?",
      yes: "Abmelden",
    },
    restore: {
      title: "E-Mail-Adresse",
      ask: "Soll dein Konto wieder diese Adresse haben? Auch spätere Änderungen werden rückgängig gemacht, alle Geräte abgemeldet, was seither dazukam, wird entfernt, und du wählst ein neues Passwort.",
      yes: "Ja, rückgängig machen",
    },
    stranger: "Mit dieser Adresse wurde ein Konto angelegt. Warst du das?",
    name: "Name",
    made: "Angelegt",
    set: "Adresse eingetragen",
    from: "Von",
    agent: "Mit",
    unknown: "nicht bekannt",
    mine: "Ja, das war ich",
    notMine: "Nein, das war ich nicht",
    consequence:
      "Falls du es nicht warst, endet alles, was damit zum Konto kam, auch das Passwort, und du wählst ein eigenes.",
    removal:
      "Falls du es nicht warst, verliert das Konto diese Adresse; es hatte vorher eine andere.",
  },
} as const;

/** Target of a link in a mail: a form without a script. Link scanners press no button. */
export function confirmPage(language: Language, question: Question, action: string): string {
  const t = texts[language];
  const { title, ask, yes } = t[question.type];
  const origin = question.type === "account" ? question.origin : null;
  const buttons =
    origin === null ? button("yes", yes) : `${button("yes", t.mine)} ${button("no", t.notMine)}`;
  const facts = origin === null ? "" : factsOf(language, origin);
  return `<!doctype html>
<html lang="${language}">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <meta name="robots" content="noindex" />
  <title>emberline: ${title}</title>
  <link rel="icon" href="/assets/icon.svg" />
  <link rel="stylesheet" href="/assets/base.css" />
  <main>
    <h1>${title}</h1>
    <form class="card" method="post" action="${escapeHtml(action)}">
      <p>${origin === null ? ask : t.stranger}</p>
      <p><strong>${escapeHtml(question.email)}</strong></p>
${facts}      <p>${buttons}</p>
    </form>
  </main>
</html>
`;
}

const button = (answer: "yes" | "no", label: string): string =>
  `<button name="answer" value="${answer}">${label}</button>`;

function factsOf(language: Language, origin: Origin): string {
  const t = texts[language];
  const { name, createdAt, setAt, ip, agent } = origin;
  const at = new Intl.DateTimeFormat(language, {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  });
  const time = (ms: number) =>
    `<time datetime="${new Date(ms).toISOString()}">${at.format(ms)} UTC</time>`;
  const isSetLater = setAt !== null && setAt - createdAt > 60_000;
  const rows: [label: string, html: string][] = [
    [t.name, escapeHtml(name)],
    [t.made, time(createdAt)],
    ...(isSetLater ? ([[t.set, time(setAt)]] as [string, string][]) : []),
    [t.from, escapeHtml(ip ?? t.unknown)],
    [t.agent, escapeHtml(agent ?? t.unknown)],
  ];
  const list = rows.map(([label, html]) => `        <li>${label}: ${html}</li>`).join("\n");
  return `      <ul>\n${list}\n      </ul>\n      <p>${origin.isReplacement ? t.removal : t.consequence}</p>\n`;
}
