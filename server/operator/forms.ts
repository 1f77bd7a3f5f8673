import type { OperatorRole } from "../http/auth/auth.ts";
import { html, type Value } from "./html.ts";
import { mayMake, type Action } from "./roles.ts";

/** Where a browser goes after a change: to the `back` of its form, or else to this page. */
export const backOr =
  (path: string) =>
  ({ input: { back } }: { input: { back?: string } }): string =>
    back ?? path;

interface ButtonOptions {
  role: OperatorRole;
  action: Action;
  /** Where its form is sent. */
  to: string;
  text: string;
  /** Hidden fields of the form. */
  fields?: Readonly<Record<string, string>>;
}

/** A form of one button, for a role that may make the change. */
export const changeButton = ({ role, action, to, text, fields = {} }: ButtonOptions): Value =>
  mayMake(role, action) &&
  html`<form class="inline" method="post" action="${to}">
    ${Object.entries(fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}<button>${text}</button>
  </form>`;
