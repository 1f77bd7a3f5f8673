import { asManyAsAllowed } from "./allowed.ts";
import type { Run } from "../scenario.ts";
import type { Bot } from "./bot.ts";

/** A bot with a registered account. */
export interface Account {
  bot: Bot;
  email: string;
  /** Access token. */
  token: string;
}

export const password = "correct horse battery staple";
const registeredAtOnce = 4;

/** Registers this process's part of so many accounts, or those that the target allows; they stay there. */
export async function registerAccounts(run: Run, total: number): Promise<Account[]> {
  const accounts = await asManyAsAllowed(run.share(total), registeredAtOnce, async () => {
    const bot = run.bot();
    const email = `${bot.name}@example.com`;
    const body = { email, username: bot.name.replaceAll("-", "_"), password };
    const { access_token: token } = await bot.visitor.call<{ access_token: string }>(
      "POST",
      "/v1/users",
      { body },
    );
    return { bot, email, token };
  });
  run.leaves("accounts", accounts.length);
  return accounts;
}
