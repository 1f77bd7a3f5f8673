import sharp from "sharp";
import { EmberlineError } from "../../server/web/client/emberline.ts";
import { registerAccounts, type Account } from "../bots/accounts.ts";
import { read } from "../bots/answers.ts";
import { ownAddresses } from "../needs.ts";
import { defineScenario } from "../scenario.ts";

/** Each uploads four times in a run of two minutes, and the service allows five in five minutes. */
const numAccounts = 60;

/** Pictures of accounts, each from the upload to the decision of the moderation, which must not be manual. */
export const scenario = defineScenario({
  about: "avatar uploads until the moderation decides",
  load: { shape: "poisson", perSecond: 2, seconds: 60 },
  besidesSeconds: 7,
  needs: [ownAddresses("/v1/users", () => numAccounts)],
  budgets: [
    "upload to decision errors <= 1 %",
    "upload to decision response p50 <= 1 s",
    "dropped <= 0",
  ],
  async setup(run) {
    const accounts = await registerAccounts(run, numAccounts);
    run.leaves("pictures", accounts.length);
    const url = `${run.url}/v1/users/@me/avatar/upload`;
    // The first picture starts the classifier, which takes seconds.
    const [first] = accounts;
    if (first) await upload(url, first, await draw(run.random));
    return { url, accounts };
  },
  async arrive({ url, accounts }, { dueAt, random }) {
    const account = accounts.shift();
    if (!account) throw new RangeError("there are no accounts");
    accounts.push(account);
    const picture = await draw(random);
    await account.bot.measure("upload to decision", dueAt, async () => {
      if ((await upload(url, account, picture)) === "queued")
        throw new EmberlineError(
          200,
          "bench:undecided",
          "undecided within 5 s, or left to an operator",
        );
    });
  },
});

interface Answer {
  body: { upload: { status: "approved" | "queued" | "rejected" } };
}

/** A landscape in green and blue, which is not taken for skin; no two look alike. */
async function draw(random: () => number): Promise<Uint8Array<ArrayBuffer>> {
  const [width, height, hills] = [640, 480, 4];
  const colour = () =>
    `hsl(${80 + Math.floor(random() * 200)} 60% ${20 + Math.floor(random() * 60)}%)`;
  const shapes = Array.from({ length: hills }, () => {
    const [x, y] = [random() * width, height * (0.3 + random() * 0.6)];
    return `<path d="M0 ${height} L0 ${y} Q${x} ${y - 200 * random()} ${width} ${y} V${height}Z" fill="${colour()}"/>`;
  });
  const sky = `<rect width="${width}" height="${height}" fill="${colour()}"/>`;
  const drawn = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${sky}${shapes.join("")}</svg>`;
  return new Uint8Array(await sharp(Buffer.from(drawn)).png().toBuffer());
}

async function upload(url: string, { bot, token }: Account, picture: Uint8Array<ArrayBuffer>) {
  const form = new FormData();
  form.set("image", new Blob([picture]), "picture.png");
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "";
  const headers = { "content-type": type, authorization: `Bearer ${token}` };
  const body = new Uint8Array(await encoded.arrayBuffer());
  const answer = await read(await bot.fetch(url, { method: "POST", headers, body }));
  return (JSON.parse(answer) as Answer).body.upload.status;
}
