import Type from "typebox";
import { pageLocale } from "../../platform/text/locales.ts";
import { linkRefused } from "../verification/link-refused.ts";
import { bytesReply, defineRoute, media, type Route } from "../../http/pipeline/route.ts";

type Language = "en" | "de";
type Texts = Readonly<Record<Language, string>>;

/** Texts of each page by code; an unknown code is an invalid link. */
const texts: Readonly<Record<"verify" | "unsubscribe", Readonly<Record<string, Texts>>>> = {
  verify: {
    success: {
      en: "Your address is confirmed. Thank you!",
      de: "Deine Adresse ist bestätigt. Danke!",
    },
    missing_arguments: {
      en: "This link is not complete. Open the whole link of the mail.",
      de: "Dieser Link ist nicht vollständig. Öffne den ganzen Link aus der Mail.",
    },
    invalid_arguments: {
      en: linkRefused.en,
      de: linkRefused.de,
    },
    address_removed: {
      en: "This address no longer belongs to the account. There is nothing more to do.",
      de: "Diese Adresse gehört nicht mehr zu dem Konto. Mehr ist nicht zu tun.",
    },
  },
  unsubscribe: {
    success: {
      en: "You are unsubscribed and get no more news from us.",
      de: "Du bist abgemeldet und bekommst keine Neuigkeiten mehr von uns.",
    },
    missing_arguments: {
      en: "This link is not complete. Open the whole link of the mail.",
      de: "Dieser Link ist nicht vollständig. Öffne den ganzen Link aus der Mail.",
    },
    invalid_arguments: {
      en: "This link is not one of ours.",
      de: "Dieser Link ist nicht von uns.",
    },
    not_found: {
      en: "This address is not on the list.",
      de: "Diese Adresse steht nicht auf der Liste.",
    },
  },
};

const titles = {
  verify: { en: "Email address", de: "E-Mail-Adresse" },
  unsubscribe: { en: "Mailing list", de: "Mailingliste" },
};

const policy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function statusPage(page: "verify" | "unsubscribe") {
  return defineRoute({
    method: "GET",
    path: `/status/${page}`,
    summary: `What became of ${page === "verify" ? "a confirmation" : "an unsubscription"}`,
    tag: "Pages",
    auth: "public",
    source: "SYS-02",
    query: Type.Object({
      result: Type.Optional(Type.String()),
      code: Type.Optional(Type.String()),
    }),
    lenientQuery: true,
    responses: { 200: media("text/html; charset=utf-8") },
    errors: [],
    handler: ({ query, request }) => {
      const language = pageLocale(request.headers["accept-language"]);
      const wanted = query.result === "success" ? "success" : (query.code ?? "");
      const known = Object.hasOwn(texts[page], wanted) ? wanted : "invalid_arguments";
      const text = texts[page][known]?.[language] ?? "";
      return bytesReply(
        200,
        "text/html; charset=utf-8",
        html(titles[page][language], text, language),
        [
          ["Content-Security-Policy", policy],
          ["Referrer-Policy", "no-referrer"],
          ["Vary", "Accept-Language"],
        ],
      );
    },
  });
}

/** Shows no part of the request: every text comes from the table. */
function html(title: string, text: string, language: Language): string {
  return `<!doctype html>
<html lang="${language}">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <title>emberline: ${title}</title>
  <link rel="icon" href="/assets/icon.svg" />
  <link rel="stylesheet" href="/assets/base.css" />
  <main>
    <h1>${title}</h1>
    <p class="card">${text}</p>
  </main>
</html>
`;
}

export const statusPageRoutes: Route<unknown>[] = [statusPage("verify"), statusPage("unsubscribe")];
