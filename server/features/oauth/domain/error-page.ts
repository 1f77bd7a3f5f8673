import { noticePage } from "../../../platform/text/notice-page.ts";

const texts: Readonly<Record<string, string>> = {
  invalid_client: "The program that sent you here is not known to us.",
  invalid_redirect_uri: "The program that sent you here wants you back at an unknown address.",
  invalid_request: "The program that sent you here asked in a way we do not understand.",
  access_denied: "Nothing was allowed.",
};
const expired = "This request is no longer open. Go back to the program and start again.";

/** For errors that cannot be returned to the program; shows no part of the request. */
export function errorPage(error: string): string {
  const text = Object.hasOwn(texts, error) ? texts[error] : expired;
  const [language, title, heading] = ["en", "Sign in", "This did not work"];
  return noticePage({ language, title, heading, text: text ?? expired });
}
