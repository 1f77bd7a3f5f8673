import { pageLocale } from "../../platform/text/locales.ts";
import { linkRefused } from "../verification/link-refused.ts";
import { bytesReply, defineRoute, media, type Route } from "../../http/pipeline/route.ts";

const texts = {
  en: {
    title: "New password",
    label: "New password, at least 8 characters",
    action: "Set password",
    done: "Your password is set, and every device was signed out. Sign in with the new one.",
    invalid: linkRefused.en,
    wrong: "This password cannot be used. Take 8 to 128 characters.",
    later: "That did not work just now. Please try again in a minute.",
  },
  de: {
    title: "Neues Passwort",
    label: "Neues Passwort, mindestens 8 Zeichen",
    action: "Passwort setzen",
    done: "Dein Passwort ist gesetzt, alle Geräte wurden abgemeldet. Melde dich mit dem neuen an.",
    invalid: linkRefused.de,
    wrong: "Dieses Passwort geht nicht. Nimm 8 bis 128 Zeichen.",
    later: "Das hat gerade nicht geklappt. Bitte versuche es in einer Minute noch einmal.",
  },
} as const;

const policy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Shows no part of the request; the script reads the token from the address. */
function html(language: keyof typeof texts): string {
  const { title, label, action, ...outcomes } = texts[language];
  const notes = Object.entries(outcomes)
    .map(([name, text]) => `    <p class="card" id="${name}" role="status" hidden>${text}</p>`)
    .join("\n");
  return `<!doctype html>
<html lang="${language}">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <title>emberline: ${title}</title>
  <link rel="icon" href="/assets/icon.svg" />
  <link rel="stylesheet" href="/assets/base.css" />
  <script src="/assets/reset-password.js" type="module"></script>
  <main>
    <h1>${title}</h1>
${notes}
    <form class="card" id="reset">
      <p><label for="password">${label}</label></p>
      <p>
        <input id="password" type="password" autocomplete="new-password" minlength="8" required />
        <button id="submit">${action}</button>
      </p>
    </form>
  </main>
</html>
`;
}

/** Target of the link in a reset mail when the realm has no own pages (GW-10). */
export const resetPage: Route<unknown> = defineRoute({
  method: "GET",
  path: "/reset-password",
  summary: "Set a new password; the link of the mail, for realms without pages of their own",
  tag: "Pages",
  auth: "public",
  source: "GW-10",
  responses: { 200: media("text/html; charset=utf-8") },
  errors: [],
  handler: ({ request }) => {
    const language = pageLocale(request.headers["accept-language"]);
    return bytesReply(200, "text/html; charset=utf-8", html(language), [
      ["Content-Security-Policy", policy],
      ["Referrer-Policy", "no-referrer"],
      ["Cache-Control", "no-store"],
      ["Vary", "Accept-Language"],
    ]);
  },
});
