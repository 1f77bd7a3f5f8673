/** A configured address that is called, and its credentials as a header. */
export interface Webhook {
  url: URL;
  headers: Readonly<Record<string, string>>;
}

/** Takes `user:password@` out of an address: it is sent as a header, and never logged. */
export function readWebhook(address: string): Webhook {
  const url = new URL(address);
  const { username, password } = url;
  url.username = url.password = "";
  if (username === "") return { url, headers: {} };
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    url,
    headers: { Authorization: `Basic ${Buffer.from(credentials).toString("base64")}` },
  };
}
