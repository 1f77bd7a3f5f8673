export const password = "correct horse battery staple";

export interface Account {
  email: string;
  accessToken: string;
  /** `name=value` of the refresh cookie. */
  cookie: string;
}

/** Creates accounts over HTTP, with as many concurrent requests as hashes; numbered from `from` on. */
export async function makeAccounts(url: string, count: number, from = 0): Promise<Account[]> {
  const accounts: Account[] = [];
  let next = from;
  const lane = async () => {
    while (next < from + count) accounts.push(await register(url, next++));
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return accounts;
}

async function register(url: string, n: number): Promise<Account> {
  const email = `bench.${n}@example.com`;
  const answer = await post(`${url}/v1/users`, { email, username: `bench_${n}`, password });
  if (answer.status !== 201) throw new Error(`registration answered ${answer.status}`);
  const { body } = (await answer.json()) as { body: { access_token: string } };
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { email, accessToken: body.access_token, cookie };
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
