import { password, registerAccounts } from "../bots/accounts.ts";
import { ownAddresses } from "../needs.ts";
import { defineScenario } from "../scenario.ts";

/** Each signs in six times a minute, and `RATE_LIMIT_LOGIN` allows ten. */
const numAccounts = 80;

/** Registered accounts sign in, each in turn; the check of the password is meant to cost processor time. */
export const scenario = defineScenario({
  about: "logins with email and password",
  load: { shape: "poisson", perSecond: 8, seconds: 60 },
  besidesSeconds: 12,
  needs: [ownAddresses("/v1/gateway/login", ({ perMinute }) => perMinute)],
  budgets: [
    "login errors <= 0.1 %",
    "login response p50 <= 250 ms",
    "login response p90 <= 500 ms",
    "dropped <= 0",
  ],
  setup: (run) => registerAccounts(run, numAccounts),
  async arrive(accounts, { dueAt }) {
    const account = accounts.shift();
    if (!account) throw new RangeError("there are no accounts");
    accounts.push(account);
    const { bot, email } = account;
    const body = { identifier: email, password };
    await bot.measure("login", dueAt, () =>
      bot.visitor.call("POST", "/v1/gateway/login", { body }),
    );
  },
});
