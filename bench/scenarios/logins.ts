import { defineScenario, type Run } from "../scenario.ts";

const password = "correct horse battery staple";
/** Each signs in six times a minute, and `RATE_LIMIT_LOGIN` allows ten. */
const numAccounts = 80;
const registeredAtOnce = 4;

/** Registered accounts sign in, each in turn; the check of the password is meant to cost processor time. */
export const scenario = defineScenario({
  about: "logins with email and password",
  load: { shape: "poisson", perSecond: 8, seconds: 60 },
  budgets: [
    "login errors <= 0.1 %",
    "login response p50 <= 250 ms",
    "login response p90 <= 500 ms",
    "dropped <= 0",
  ],
  setup: registerAccounts,
  async arrive(bots, { dueAt }) {
    const bot = bots.shift();
    if (!bot) throw new RangeError("there are no accounts");
    bots.push(bot);
    const body = { identifier: emailOf(bot), password };
    await bot.measure("login", dueAt, () =>
      bot.visitor.call("POST", "/v1/gateway/login", { body }),
    );
  },
});

const emailOf = ({ name }: { name: string }) => `${name}@example.com`;

async function registerAccounts(run: Run) {
  const bots = Array.from({ length: run.share(numAccounts) }, () => run.bot());
  const waiting = [...bots];
  const lane = async () => {
    for (let bot = waiting.pop(); bot; bot = waiting.pop()) {
      const username = bot.name.replaceAll("-", "_");
      const body = { email: emailOf(bot), username, password };
      await bot.visitor.call("POST", "/v1/users", { body });
    }
  };
  await Promise.all(Array.from({ length: registeredAtOnce }, lane));
  run.leaves("accounts", bots.length);
  return bots;
}
