import { pageLocale } from "../../platform/text/locales.ts";

const texts = {
  en: {
    title: "Sign in",
    asks: "wants to know who you are here.",
    lets: "It learns",
    openid: "your player number",
    profile: "your name and user name",
    email: "your email address",
    offline_access: "this also later, until you end it in your list of sessions",
    allow: "Allow",
    deny: "Do not allow",
    identifier: "Email address or user name",
    password: "Password",
    signIn: "Sign in",
    other: "Another account",
    as: "You are",
    wrong: "That is not right. Please try again.",
    locked: "Too many tries. Please wait a quarter of an hour.",
    guest: "Guests have no account to sign in with. Sign in to one.",
    expired: "This request is no longer open. Go back to the program and start again.",
    later: "That did not work just now. Please try again in a minute.",
    again: "The program wants to be sure that it is you. Please sign in again.",
  },
  de: {
    title: "Anmelden",
    asks: "möchte wissen, wer du hier bist.",
    lets: "Es erfährt",
    openid: "deine Spielernummer",
    profile: "deinen Namen und Benutzernamen",
    email: "deine E-Mail-Adresse",
    offline_access: "dies auch später, bis du es in deiner Liste der Sitzungen beendest",
    allow: "Erlauben",
    deny: "Nicht erlauben",
    identifier: "E-Mail-Adresse oder Benutzername",
    password: "Passwort",
    signIn: "Anmelden",
    other: "Anderes Konto",
    as: "Du bist",
    wrong: "Das stimmt nicht. Bitte versuche es noch einmal.",
    locked: "Zu viele Versuche. Bitte warte eine Viertelstunde.",
    guest: "Gäste haben kein Konto. Melde dich bei einem an.",
    expired: "Diese Anfrage ist nicht mehr offen. Beginne im Programm noch einmal.",
    later: "Das hat gerade nicht geklappt. Bitte versuche es in einer Minute noch einmal.",
    again: "Das Programm will sicher sein, dass du es bist. Bitte melde dich noch einmal an.",
  },
} as const;

const scopes = ["openid", "profile", "email", "offline_access"] as const;
const notes = ["wrong", "locked", "guest", "expired", "later", "again"] as const;

/** The page has no part of the request: its script fetches the question and shows it as text. */
export function consentPage(acceptLanguage: string | undefined): string {
  const language = pageLocale(acceptLanguage);
  const t = texts[language];
  const items = scopes.map((name) => `        <li id="scope-${name}" hidden>${t[name]}</li>`);
  const hints = notes.map(
    (id) => `    <p class="card" id="${id}" role="alert" hidden>${t[id]}</p>`,
  );
  return `<!doctype html>
<html lang="${language}">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <title>emberline: ${t.title}</title>
  <link rel="icon" href="/assets/icon.svg" />
  <link rel="stylesheet" href="/assets/base.css" />
  <script src="/assets/consent.js" type="module"></script>
  <main>
    <h1>${t.title}</h1>
${hints.join("\n")}
    <div class="card" id="ask" tabindex="-1" hidden>
      <p><strong id="client"></strong> ${t.asks} ${t.lets}</p>
      <ul>
${items.join("\n")}
      </ul>
      <p id="who" hidden>${t.as} <strong id="player"></strong>.</p>
      <p id="choice" hidden>
        <button id="allow">${t.allow}</button>
        <button id="deny">${t.deny}</button>
        <button id="other">${t.other}</button>
      </p>
    </div>
    <form class="card" id="sign-in" hidden>
      <p>
        <label for="identifier">${t.identifier}</label>
        <input id="identifier" autocomplete="username" required />
      </p>
      <p>
        <label for="password">${t.password}</label>
        <input id="password" type="password" autocomplete="current-password" required />
      </p>
      <p><button>${t.signIn}</button></p>
    </form>
  </main>
</html>
`;
}
