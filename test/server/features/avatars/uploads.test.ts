import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { sql } from "kysely";
import sharp from "sharp";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { createHttpServer } from "../../../../server/http/uws/server.ts";
import { routes } from "../../../../server/app/routes.ts";
import { moderateAvatar } from "../../../../workers/processors/avatar-moderation.ts";
import { startApp, type App } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { enter, registerAccount } from "../../../support/identity.ts";
import {
  animatedPng,
  claimingPng,
  formOf,
  plain,
  scene,
  startTestModerator,
  type FormPart,
  type TestModerator,
} from "../../../support/pictures.ts";
import { sendRaw } from "../../../support/raw-http.ts";

const path = "/v1/users/@me/avatar/upload";

interface Upload {
  id: number;
  status: string;
  url: string | null;
  rejection_reason: string | null;
}

interface Selection {
  source: string | null;
  upload_id: number | null;
}

let app: App;
let moderator: TestModerator;
let seed = 0;
const fresh = () => scene(++seed).png().toBuffer();

async function member() {
  const { session } = await registerAccount(app);
  const token = session.access_token;
  const id = session.player.id;
  const form = async (parts: readonly FormPart[], address?: string) => {
    const { headers, body: sent } = formOf(parts);
    const via = address === undefined ? {} : { "x-forwarded-for": address };
    const answer = await app.client.post(path, {
      token,
      headers: { ...headers, ...via },
      body: sent,
    });
    const json = answer.json as { flash?: { errors: { code: string }[] } };
    const body = answer.body as { upload: Upload; avatar?: Selection } | undefined;
    return { ...answer, body, code: json.flash?.errors[0]?.code };
  };
  const send = async (bytes: Uint8Array) => {
    const { status, body, text } = await form([{ bytes }]);
    assert.equal(status, 200, text);
    assert.ok(body);
    return body;
  };
  const draw = async (query = "") =>
    (await app.client.get(`/v1/players/${id}/avatar${query}`)).text;
  /** The picture in the drawing, decoded; null when there is none. */
  const picture = async () => {
    const data = /href="data:image\/webp;base64,([^"]+)"/.exec(await draw())?.[1];
    return data === undefined ? null : Buffer.from(data, "base64");
  };
  const choose = (body: unknown) => app.client.patch("/v1/users/@me/avatar", { token, body });
  return { id, token, form, send, draw, picture, choose };
}

const storedUploads = (playerId: number) =>
  rowsOf(
    app.deps.em,
    sql<{ id: number; status: string; file: string }>`select id, status, file from avatar_uploads
      where player_id = ${playerId} order by id`,
  );

/** The same file with another word for what it is. */
function branded(avif: Buffer, brand: string): Buffer {
  const copy = Buffer.from(avif);
  copy.write(brand, 8, "latin1");
  return copy;
}

const dominant = async (bytes: Buffer) => (await sharp(bytes).stats()).dominant;

/** A form whose body does not come, and what is answered to it. */
interface Slow {
  socket: Socket;
  /** Resolves with everything that was answered, once there is an answer or the connection has ended. */
  answered: Promise<string>;
}

describe("uploads of avatars", () => {
  before(async () => {
    moderator = await startTestModerator();
    const env = {
      TRUSTED_PROXIES: "127.0.0.1",
      AVATAR_MODERATION: "webhook",
      AVATAR_MODERATION_URL: moderator.url,
    };
    app = await startApp({ env });
  });
  beforeEach(() => {
    moderator.answer = { status: 200, body: { verdict: "approved" } };
  });
  after(async () => {
    await app.stop();
    await moderator.stop();
  });

  describe("an uploaded picture", uploadedPicture);
  describe("a form that is no sound picture", formNoSoundPicture);
  describe("many uploads at once", manyUploadsAtOnce);
  describe("moderation", moderation);
});

function uploadedPicture(): void {
  it("is approved, shown at once, and stored as 512 x 512 WebP", async () => {
    const one = await member();
    const { upload, avatar } = await one.send(await fresh());
    assert.equal(upload.status, "approved");
    assert.equal(upload.url, `/v1/players/${one.id}/avatar?v=1`);
    assert.deepEqual([avatar?.source, avatar?.upload_id], ["upload", upload.id]);
    const shown = await one.picture();
    assert.ok(shown);
    const { format, width, height } = await sharp(shown).metadata();
    assert.deepEqual([format, width, height], ["webp", 512, 512]);
    assert.match(await one.draw("?size=40"), /^<svg [^>]*width="40" height="40"/);
  });

  it("of every documented format is taken, whatever it is called; of animations the first frame", async () => {
    const one = await member();
    const base = () => scene(++seed);
    const frames = await Promise.all(
      ["#ff0000", "#0000ff"].map((color) => plain(64, 64, color).png().toBuffer()),
    );
    const animated = (format: "gif" | "webp") =>
      sharp(frames, { join: { animated: true } })
        [format]()
        .toBuffer();
    const pictures = {
      png: await base().png().toBuffer(),
      jpeg: await base().jpeg().toBuffer(),
      webp: await base().webp().toBuffer(),
      avif: await base().avif({ effort: 0 }).toBuffer(),
      "animated png": animatedPng(frames[0] ?? assert.fail(), frames[1] ?? assert.fail(), 64),
      gif: await animated("gif"),
      "animated webp": await animated("webp"),
      "progressive jpeg": await base().jpeg({ progressive: true }).toBuffer(),
      "cmyk jpeg": await base().toColourspace("cmyk").jpeg().toBuffer(),
      "grey jpeg": await base().greyscale().jpeg().toBuffer(),
      "interlaced png": await base().png({ progressive: true }).toBuffer(),
      "png of 16 bits": await base().toColourspace("rgb16").png().toBuffer(),
      "png of a palette": await base().png({ palette: true, colours: 8 }).toBuffer(),
      "lossless webp": await base().webp({ lossless: true }).toBuffer(),
      smallest: await scene(++seed, 32, 32).png().toBuffer(),
      long: await scene(++seed, 4_096, 32).jpeg().toBuffer(),
    };
    for (const [name, bytes] of Object.entries(pictures)) {
      const { status, text } = await one.form([
        { bytes, filename: "../../etc/passwd.svg", type: "text/html" },
      ]);
      assert.equal(status, 200, `${name}: ${text}`);
      const shown = await one.picture();
      assert.ok(shown, name);
      assert.equal((await sharp(shown).metadata()).pages, undefined, name);
      if (frames.length > 0 && /gif|animated/.test(name)) {
        const { r, b } = await dominant(shown);
        assert.ok(r > 200 && b < 60, `${name}: the first frame is red`);
      }
    }
  });

  it("loses where it was taken, and stands upright", async () => {
    const one = await member();
    const left = await plain(60, 120, "#ff0000").png().toBuffer();
    const bytes = await plain(120, 120, "#0000ff")
      .composite([{ input: left, left: 0, top: 0 }])
      .withExif({
        IFD0: { Artist: "Somebody" },
        IFD3: { GPSLatitudeRef: "N", GPSLatitude: "51/1 30/1 3230/100" },
      })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    assert.ok(bytes.includes("Somebody"));
    await one.send(bytes);
    const shown = await one.picture();
    assert.ok(shown);
    const { exif, xmp, icc, orientation } = await sharp(shown).metadata();
    assert.deepEqual([exif, xmp, icc, orientation], [undefined, undefined, undefined, undefined]);
    const half = (top: number) => sharp(shown).extract({ left: 0, top, width: 512, height: 256 });
    const [upper, lower] = await Promise.all([0, 256].map((top) => half(top).png().toBuffer()));
    assert.ok(upper && lower);
    assert.ok((await dominant(upper)).r > 200 && (await dominant(lower)).b > 200);
  });

  it("carries nothing that was hidden behind it", async () => {
    const one = await member();
    const tail = "<script>alert(1)</script>";
    await one.send(Buffer.concat([await scene(++seed).jpeg().toBuffer(), Buffer.from(tail)]));
    assert.ok(!(await one.picture())?.includes("script"));
  });
}

function formNoSoundPicture(): void {
  describe("is refused", refused);
  describe("is read no further than it may be long", readNoFurtherThan);
}

function refused(): void {
  it("is refused with the code of its flaw, and stores nothing", async () => {
    const one = await member();
    const jpeg = await scene(1, 800, 600).jpeg().toBuffer();
    const png = await scene(1).png().toBuffer();
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect/></svg>';
    const webp = await scene(1).webp().toBuffer();
    const gif = await scene(1).gif().toBuffer();
    const avif = await scene(1).avif({ effort: 0 }).toBuffer();
    const half = (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1);
    const changed = (bytes: Buffer, at: number, to: number[]) => {
      const copy = Buffer.from(bytes);
      copy.set(to, at);
      return copy;
    };
    const sizeInJpeg = jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5;
    const invalid: Record<string, Uint8Array | string> = {
      "an SVG": svg,
      "an SVG with an XML head": `<?xml version="1.0"?>${svg}`,
      "a page": "<!doctype html><script>alert(1)</script>",
      "a PDF": "%PDF-1.7\n1 0 obj\n",
      "a TIFF": await scene(1).tiff().toBuffer(),
      "a packed SVG": gzipSync(svg),
      "a page that begins like a PNG": Buffer.concat([png.subarray(0, 8), Buffer.from(svg)]),
      "a script that begins like a GIF": "GIF89a/*\0\0*/=1;alert(1)",
      "a HEIC": branded(avif, "heic"),
      "a HEIC that moves": branded(avif, "hevc"),
      "an AVIF that moves": branded(avif, "avis"),
      "an archive": "PK\x03\x04\x14\0\0\0\x08\0",
      "a BMP": "BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x20\0\0\0\x20\0\0\0\x01\0\x18\0",
      "an icon": "\0\0\x01\0\x01\0\x20\x20\0\0\x01\0\x20\0",
      "a JPEG cut off": half(jpeg),
      "a PNG cut off": half(png),
      "a WebP cut off": half(webp),
      "a GIF cut off": half(gif),
      "an AVIF cut off": half(avif),
      "a PNG with a wrong sum": changed(png, png.indexOf("IDAT") + 8, [0, 1, 2, 3]),
      "a PNG named as a JPEG inside": changed(png, 0, [0xff, 0xd8, 0xff, 0xe0]),
      "a JPEG that claims 65535 lines": changed(jpeg, sizeInJpeg, [0xff, 0xff]),
      "a PNG that claims 100 megapixels": claimingPng(10_000, 10_000),
      "a PNG without a size": claimingPng(0, 0),
      "a head alone": png.subarray(0, 40),
      "a PNG that claims 2^31 pixels each way": claimingPng(2 ** 31 - 1, 2 ** 31 - 1),
      "a PNG that claims 256 megapixels": claimingPng(16_384, 16_384),
      "a PNG that ends too early": claimingPng(4_096, 4_096),
      "a bomb of 9000 x 9000": await plain(9_000, 9_000).png({ compressionLevel: 9 }).toBuffer(),
      "a line": await plain(4_097, 32).png().toBuffer(),
      "a dot": await plain(31, 31).png().toBuffer(),
      noise: Buffer.alloc(2_000, 7),
    };
    for (const [name, bytes] of Object.entries(invalid)) {
      const { status, code } = await one.form([{ bytes, filename: "a.png", type: "image/png" }]);
      assert.deepEqual([status, code], [400, "avatar:image_invalid"], name);
    }
    const two = await one.form([{ bytes: png }, { bytes: png }]);
    assert.deepEqual([two.status, two.code], [400, "avatar:image_invalid"]);
    const missing: [string, FormPart[]][] = [
      ["no parts", []],
      ["another field", [{ name: "picture", bytes: png }]],
      ["a text", [{ filename: null, bytes: png }]],
      ["an empty file", [{ bytes: "" }]],
    ];
    for (const [name, parts] of missing)
      assert.equal((await one.form(parts)).code, "avatar:image_missing", name);
    assert.deepEqual(await storedUploads(one.id), []);
    assert.equal(await one.picture(), null);
  });

  it("may be cut off, empty or of another type", async () => {
    const { token } = await member();
    const { body, headers } = formOf([{ bytes: await fresh() }]);
    const codeOf = async (options: { body?: Uint8Array; headers: Record<string, string> }) => {
      const { json } = await app.client.post(path, { token, ...options });
      return (json as { flash: { errors: { code: string }[] } }).flash.errors[0]?.code;
    };
    assert.equal(await codeOf({ headers }), "avatar:image_missing");
    assert.equal(await codeOf({ headers, body: body.subarray(0, -60) }), "avatar:image_missing");
    const unbounded = { "content-type": "multipart/form-data" };
    assert.equal(await codeOf({ headers: unbounded, body }), "avatar:image_missing");
    for (const other of [
      { "content-type": "image/png" },
      { "content-type": "application/json" },
      { "content-type": "multipart/form-datax" },
      { ...headers, "content-encoding": "gzip" },
    ])
      assert.equal(await codeOf({ headers: other, body }), "request:unsupported_media_type");
  });

  it("may name its boundary in any way its standard has", async () => {
    const one = await member();
    const { body, headers } = formOf([{ bytes: await fresh() }]);
    const bare = headers["content-type"];
    const quoted = bare.replace(/boundary=(.+)/, 'boundary="$1"');
    for (const type of [
      quoted,
      `${bare}; charset=utf-8`,
      quoted.replace("; ", ";charset=utf-8 ; "),
      bare.replace("multipart/form-data", "Multipart/Form-Data"),
    ]) {
      const options = { token: one.token, headers: { "content-type": type }, body };
      const { status, text } = await app.client.post(path, options);
      assert.equal(status, 200, `${type}: ${text}`);
    }
  });
}

function readNoFurtherThan(): void {
  it("is not read further than it may be long", async () => {
    const one = await member();
    const limit = app.deps.config.AVATAR_MAX_BYTES;
    const long = await one.form([{ bytes: Buffer.alloc(limit + 1) }]);
    assert.deepEqual([long.status, long.code], [413, "request:too_large"]);
    const longest = await one.form([{ bytes: Buffer.alloc(limit) }]);
    assert.equal(longest.code, "avatar:image_invalid");
    const port = Number(new URL(app.url).port);
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${one.token}\r\n`;
    const type = `Content-Type: ${formOf([]).headers["content-type"]}\r\n`;
    const announced = await sendRaw(port, `${head}${type}Content-Length: 99999999\r\n\r\n`);
    assert.equal(announced.responses[0]?.status, 413);
    assert.ok(announced.isClosedByServer);
  });

  it("may come in chunks, has one answer then, and a trailer that is a request has none", async () => {
    const one = await member();
    const port = Number(new URL(app.url).port);
    const { body, headers } = formOf([{ bytes: await fresh() }]);
    const chunked = (end: string) =>
      Buffer.concat([
        Buffer.from(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${one.token}\r\n` +
            `Content-Type: ${headers["content-type"]}\r\nTransfer-Encoding: chunked\r\n\r\n` +
            `${body.length.toString(16)}\r\n`,
        ),
        body,
        Buffer.from(`\r\n0\r\n${end}`),
      ]);
    const alone = await sendRaw(port, chunked("\r\n"));
    assert.deepEqual(
      alone.responses.map(({ status }) => status),
      [200],
    );
    assert.ok(alone.isClosedByServer);
    const trailer = "X:GET /v1/avatars/icons/acorn HTTP/1.1\r\nHost: x\r\n\r\n";
    const { text, isClosedByServer } = await sendRaw(port, chunked(trailer));
    assert.doesNotMatch(text, /acorn/);
    assert.ok(text.split("HTTP/1.1 ").length <= 2, text);
    assert.ok(isClosedByServer);
  });

  it("is not kept for those who may not send one, and they hear why", async () => {
    const { access_token: guest } = await enter(app);
    const { body, headers } = formOf([{ bytes: Buffer.alloc(4_000_000, 1) }]);
    assert.equal((await app.client.post(path, { headers, body })).status, 401);
    assert.equal((await app.client.post(path, { headers, body, token: "bad" })).status, 401);
    assert.equal((await app.client.post(path, { headers, body, token: guest })).status, 403);
    assert.equal((await app.client.delete(path)).status, 401);
    assert.equal((await app.client.delete(path, { token: guest })).status, 403);
  });
}

function manyUploadsAtOnce(): void {
  let open: Slow[] = [];
  const port = () => Number(new URL(app.url).port);
  /** Uploads that have their places. */
  async function hold(token: string, address: string, number: number, to = port()) {
    const key = `uploads:a${address}`;
    const before = await app.deps.redis.zcard(key);
    const slow = Array.from({ length: number }, () => sendSlowly(to, token, address));
    open.push(...slow);
    const isFull = async () => (await app.deps.redis.zcard(key)) === before + number;
    await eventually("the places are taken", isFull);
    return slow;
  }
  afterEach(async () => {
    for (const { socket } of open) socket.destroy();
    open = [];
    const isFree = async () => (await app.deps.redis.keys("uploads:*")).length === 0;
    await eventually("the places are free", isFree);
  });

  it("get four places of one account, and the next is told so before any of it is read", async () => {
    const [one, other] = await Promise.all([member(), member()]);
    const slow = await hold(one.token, "203.0.113.1", 4);
    // From another address, so that it is the account which has too many.
    const fifth = sendSlowly(port(), one.token, "203.0.113.2");
    open.push(fifth);
    const answer = await fifth.answered;
    assert.match(answer, /^HTTP\/1.1 429 /);
    assert.match(answer, /\r\nRetry-After: 5\r\n/);
    assert.match(answer, /"rate_limit:exceeded"/);
    // Others do not notice.
    await other.send(await fresh());
    slow[0]?.socket.destroy();
    await eventually("a place is free", async () => {
      const again = await one.form([{ bytes: await fresh() }]);
      return again.status === 200;
    });
  });

  it("keep their places until they are answered, so that a hundred at once hinder nobody else", async () => {
    const [one, other] = await Promise.all([member(), member()]);
    const picture = await fresh();
    const burst = Array.from({ length: 100 }, () => one.form([{ bytes: picture }], "203.0.113.1"));
    const others = await Promise.all(
      Array.from({ length: 4 }, async () => other.form([{ bytes: await fresh() }], "203.0.113.2")),
    );
    assert.deepEqual(
      others.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const statuses = new Set((await Promise.all(burst)).map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), [200, 429]);
  });

  it("get four places of one address, whatever accounts they are of", async () => {
    const [one, other, third] = await Promise.all([member(), member(), member()]);
    await hold(one.token, "203.0.113.1", 2);
    await hold(other.token, "203.0.113.1", 2);
    const fifth = sendSlowly(port(), third.token, "203.0.113.1");
    open.push(fifth);
    assert.match(await fifth.answered, /^HTTP\/1.1 429 /);
    await third.send(await fresh());
  });

  it("get four places at all workers together", async () => {
    const worker = createHttpServer({ deps: app.deps, routes, log: silentLogger, exclusive: true });
    const otherPort = await worker.listen("127.0.0.1", 0);
    const one = await member();
    await hold(one.token, "203.0.113.1", 4);
    const fifth = sendSlowly(otherPort, one.token, "203.0.113.2");
    open.push(fifth);
    assert.match(await fifth.answered, /^HTTP\/1.1 429 /);
    fifth.socket.destroy();
    await worker.close();
  });

  it("have the places of a worker that died again when its leases are over", async () => {
    const one = await member();
    const key = `uploads:p${one.id}`;
    const leaseUntil = (time: number) =>
      app.deps.redis.zadd(key, ...["a", "b", "c", "d"].flatMap((id) => [time, id]));
    await leaseUntil(Date.now() + 15_000);
    const fifth = sendSlowly(port(), one.token, "203.0.113.1");
    open.push(fifth);
    assert.match(await fifth.answered, /^HTTP\/1.1 429 /);
    await leaseUntil(Date.now() - 1);
    await one.send(await fresh());
  });

  it("lose their places when they are slower than 16 KB/s", async () => {
    const one = await member();
    const slow = await hold(one.token, "203.0.113.1", 4);
    for (const answer of await Promise.all(slow.map(({ answered }) => answered)))
      assert.match(answer, /^HTTP\/1.1 408 [^]*"request:too_slow"/);
    await one.send(await fresh());
  });

  it("are so few at a worker that the next one is told to come back", async () => {
    const members = await Promise.all([member(), member(), member()]);
    await Promise.all(members.map(({ token }, i) => hold(token, `203.0.113.${i + 1}`, 4)));
    const last = await member();
    const answer = await last.form([{ bytes: await fresh() }]);
    assert.deepEqual([answer.status, answer.code], [503, "server:unavailable"]);
    assert.ok(Number(answer.headers.get("retry-after")) >= 1);
  });

  it("leave a connection sound on which one of them was refused", async () => {
    const one = await member();
    await hold(one.token, "203.0.113.1", 4);
    const via = "Host: x\r\nX-Forwarded-For: 203.0.113.2\r\n";
    const { headers, body } = formOf([{ bytes: await fresh() }]);
    const head = `POST ${path} HTTP/1.1\r\n${via}Authorization: Bearer ${one.token}\r\nContent-Type: ${headers["content-type"]}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const next = `GET /v1/avatars/icons/none HTTP/1.1\r\n${via}\r\n`;
    const bytes = Buffer.concat([Buffer.from(head), body, Buffer.from(next)]);
    const { responses } = await sendRaw(port(), bytes, { responses: 2 });
    const statuses = responses.map(({ status }) => status);
    assert.equal(statuses[0], 429);
    assert.ok(statuses.length === 1 || statuses[1] === 404, String(statuses));
  });
}

function moderation(): void {
  it("lets nobody see a picture it leaves to a person", async () => {
    const one = await member();
    moderator.answer = { status: 200, body: { verdict: "queued" } };
    const { upload, avatar } = await one.send(await fresh());
    assert.deepEqual([upload.status, upload.url, avatar], ["queued", null, undefined]);
    assert.equal(await one.picture(), null);
    assert.equal((await one.choose({ source: "upload" })).status, 400);
    const failures = [
      { status: 500, body: { verdict: "approved" } },
      { status: 200, body: { verdict: "perhaps" } },
      { status: 200, body: "<html>" },
      { status: 302, body: {} },
    ];
    for (const answer of failures) {
      moderator.answer = answer;
      const { upload: next } = await one.send(await fresh());
      assert.equal(next.status, "queued", JSON.stringify(answer));
    }
  });

  it("rejects with a reason and leaves the avatar as it is; what looks alike goes the same way", async () => {
    const [a, b] = [await member(), await member()];
    const shown = await a.send(await fresh());
    const bad = ++seed;
    moderator.answer = { status: 200, body: { verdict: "rejected", reason: "No flags, please." } };
    const { upload } = await a.send(await scene(bad).png().toBuffer());
    assert.deepEqual([upload.status, upload.rejection_reason], ["rejected", "No flags, please."]);
    const kept = (await a.choose({ source: "upload" })).body as { avatar: Selection };
    assert.equal(kept.avatar.upload_id, shown.upload.id);
    moderator.answer = { status: 200, body: { verdict: "approved" } };
    const asked = moderator.asked.length;
    const alike = scene(bad).resize(90, 70).modulate({ brightness: 1.1 }).jpeg({ quality: 60 });
    const again = await b.send(await alike.toBuffer());
    assert.equal(again.upload.status, "rejected");
    assert.match(again.upload.rejection_reason ?? "", /rejected before/);
    assert.equal(moderator.asked.length, asked, "nobody was asked again");
    assert.equal((await b.send(await fresh())).upload.status, "approved");
    // A picture without detail looks like every other one: likeness says nothing.
    moderator.answer = { status: 200, body: { verdict: "rejected" } };
    await b.send(await plain(64, 64, "#ffffff").png().toBuffer());
    moderator.answer = { status: 200, body: { verdict: "approved" } };
    const other = await b.send(await plain(64, 64, "#f0f0f0").png().toBuffer());
    assert.equal(other.upload.status, "approved");
  });

  it("that takes too long answers queued, and shows the picture when it is done", async () => {
    const one = await member();
    moderator.answer = null;
    const from = performance.now();
    const { upload } = await one.send(await fresh());
    assert.equal(upload.status, "queued");
    assert.ok(performance.now() - from >= 4_900, "the request waits for the verdict");
    moderator.answer = { status: 200, body: { verdict: "approved" } };
    const [row] = await storedUploads(one.id);
    assert.ok(row);
    // The same job again, as after the death of its worker, several times at once.
    const jobs = Array.from({ length: 4 }, () =>
      moderateAvatar({ uploadId: row.id, round: 1 }, { ...app.deps, em: app.deps.orm.em.fork() }),
    );
    await Promise.all(jobs);
    moderator.release();
    assert.ok(await one.picture());
    const version = await rowsOf(
      app.deps.em,
      sql<{ v: number }>`select avatar_v as v from players where id = ${one.id}`,
    );
    assert.equal(version[0]?.v, 1, "done twice is done once");
  });

  it("never overrides what was chosen, or sent, after the picture", async () => {
    const one = await member();
    const held = moderator.next();
    moderator.answer = null;
    const sending = one.send(await fresh());
    await held;
    assert.equal((await one.choose({ source: "custom", icon: "lorc/candle-holder" })).status, 200);
    moderator.answer = { status: 200, body: { verdict: "approved" } };
    const [first] = await storedUploads(one.id);
    assert.ok(first);
    await moderateAvatar({ uploadId: first.id, round: 1 }, { ...app.deps });
    moderator.release();
    const late = await sending;
    assert.equal(late.upload.status, "approved");
    assert.equal(await one.picture(), null);
    const chosen = await one.choose({ source: "upload" });
    assert.equal((chosen.body as { avatar: Selection }).avatar.upload_id, first.id);
    assert.ok(await one.picture());
  });

  it("keeps an upload that is taken off, and gives the generated picture back", async () => {
    const one = await member();
    const generated = await one.draw();
    await one.send(await fresh());
    assert.notEqual(await one.draw(), generated);
    for (let i = 0; i < 2; i++)
      assert.equal((await app.client.delete(path, { token: one.token })).status, 204);
    assert.equal(await one.draw(), generated);
    assert.equal((await storedUploads(one.id)).length, 1);
    await one.choose({ source: "custom", icon: "lorc/candle-skull" });
    await app.client.delete(path, { token: one.token });
    assert.match(await one.draw(), /Icon by/, "another source is none of its business");
  });
}

function sendSlowly(port: number, token: string, address: string): Slow {
  const { headers } = formOf([]);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nX-Forwarded-For: ${address}\r\n`;
  const rest = `Content-Type: ${headers["content-type"]}\r\nContent-Length: 4000000\r\n\r\n--`;
  const socket = connect(port, "127.0.0.1", () => socket.write(head + rest));
  let text = "";
  const answered = new Promise<string>((resolve) => {
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (text.includes("\r\n\r\n")) resolve(text);
    });
    socket.on("error", () => resolve(text)).on("close", () => resolve(text));
  });
  return { socket, answered };
}
