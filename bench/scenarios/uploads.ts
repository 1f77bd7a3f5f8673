import sharp from "sharp";
import { EmberlineError } from "../../server/web/client/emberline.ts";
import { registerAccounts } from "../bots/accounts.ts";
import { read } from "../bots/answers.ts";
import { defineScenario } from "../scenario.ts";

/** Each uploads four times in a run of two minutes, and the service allows five in five minutes. */
const numAccounts = 60;

/** Pictures of accounts, each from the upload to the decision of the moderation, which must not be manual. */
export const scenario = defineScenario({
  about: "avatar uploads until the moderation decides",
  load: { shape: "poisson", perSecond: 2, seconds: 60 },
  budgets: [
    "upload to decision errors <= 1 %",
    "upload to decision response p50 <= 1 s",
    "dropped <= 0",
  ],
  async setup(run) {
    const accounts = await registerAccounts(run, numAccounts);
    run.leaves("pictures", accounts.length);
    return { url: `${run.url}/v1/users/@me/avatar/upload`, accounts };
  },
  async arrive({ url, accounts }, { dueAt, random }) {
    const account = accounts.shift();
    if (!account) throw new RangeError("there are no accounts");
    accounts.push(account);
    const form = new FormData();
    form.set("image", new Blob([await draw(random)]), "picture.png");
    const { headers, body } = await encoded(form);
    const authorization = `Bearer ${account.token}`;
    await account.bot.measure("upload to decision", dueAt, async () => {
      const sent = { method: "POST", headers: { ...headers, authorization }, body };
      const { upload } = (JSON.parse(await read(await account.bot.fetch(url, sent))) as Answer)
        .body;
      if (upload.status === "queued")
        throw new EmberlineError(
          200,
          "bench:undecided",
          "no decision within 5 s, or left to an operator",
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

async function encoded(form: FormData) {
  const response = new Response(form);
  const headers = { "content-type": response.headers.get("content-type") ?? "" };
  return { headers, body: new Uint8Array(await response.arrayBuffer()) };
}
