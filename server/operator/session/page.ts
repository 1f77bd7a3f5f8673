import type { AppError } from "../../platform/errors.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { html, type Html } from "../html.ts";
import { alertText, page } from "../layout.ts";
import { oidcPath } from "./oidc.ts";

/** `problem` is shown above the form; null at the first visit. `provider` is that of OpenID, if there is one. */
export const loginPage = (problem: string | null, provider: string | null): Html =>
  page(
    { title: "Operator login", caller: null },
    html`<h1>Operator login</h1>
      <p>
        The startup banner prints the token; more are made with
        <code>npm run console -- operator:create</code>.
      </p>
      ${problem !== null && alertText(problem)}
      ${
        provider !== null &&
        html`<p><a class="button primary" href="${oidcPath}">Sign in with ${provider}</a></p>`
      }
      <form method="post" action="/operator/login">
        <label for="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
        />
        <p><button class="primary">Log in</button></p>
      </form>`,
  );

/**
 * Shown after a sign-in at the OpenID provider. Browsers send the session cookie only to navigations that begin on our
 * pages, so a redirect from the provider's site would end at the login page.
 */
export const signedInPage = (): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="refresh" content="0; url=/operator" />
        <title>Signed in</title>
      </head>
      <body>
        <p><a href="/operator">Signed in: to the overview</a></p>
      </body>
    </html>`;

/** Shown instead of a refusal as JSON. */
export const refusalPage = (
  { message, code, detail }: AppError,
  { id, back, caller }: { id: string; back: string; caller: OperatorCaller | null },
): Html =>
  page(
    { title: "Not possible", caller },
    html`<h1>Not possible</h1>
      ${alertText(message)}
      <ul>
        ${factsOf(detail).map((fact) => html`<li>${fact}</li>`)}
      </ul>
      <p class="quiet">${code}, request ${id}</p>
      <p><a href="${back}">Back</a> · <a href="/operator">Operator</a></p>`,
  );

/** What the refusal says besides its message. */
const factsOf = ({ params = {}, violations = [] }: AppError["detail"]): string[] => [
  ...Object.entries(params).map(([name, value]) => `${name}: ${String(value)}`),
  ...violations.map(({ propertyPath, title }) => `${propertyPath}: ${title}`),
];
