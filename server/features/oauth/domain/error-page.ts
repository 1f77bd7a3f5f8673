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
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <title>emberline: Sign in</title>
  <link rel="icon" href="/assets/icon.svg" />
  <link rel="stylesheet" href="/assets/base.css" />
  <main>
    <h1>This did not work</h1>
    <p class="card">${text ?? expired}</p>
  </main>
</html>
`;
}
