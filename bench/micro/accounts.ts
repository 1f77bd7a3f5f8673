export const password = "correct horse battery staple";

/** Registers accounts, with as many concurrent requests as hashes; resolves to their addresses. */
export async function makeAccounts(url: string, count: number): Promise<string[]> {
  const emails: string[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) emails.push(await register(url, next++));
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return emails;
}

async function register(url: string, n: number): Promise<string> {
  const email = `bench.${n}@example.com`;
  const { status } = await fetch(`${url}/v1/users`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, username: `bench_${n}`, password }),
  });
  if (status !== 201) throw new Error(`registration answered ${status}`);
  return email;
}
