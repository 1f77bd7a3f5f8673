import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { enter } from "../../../support/identity.ts";
import {
  animatedPng,
  claimingPng,
  formOf,
  plain,
  scene,
  type FormPart,
} from "../../../support/pictures.ts";
import { sendRaw } from "../../../support/raw-http.ts";
import {
  app,
  branded,
  dominant,
  fresh,
  member,
  path,
  nextSeed,
  startsUploadApp,
  storedUploads,
} from "./upload-app.ts";

describe("uploads of avatars", () => {
  startsUploadApp();

  describe("an uploaded picture", () => {
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

    it("is accepted in every documented format under any name; an animation gives its first frame", async () => {
      const one = await member();
      const base = () => scene(nextSeed());
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
        smallest: await scene(nextSeed(), 32, 32).png().toBuffer(),
        long: await scene(nextSeed(), 4_096, 32).jpeg().toBuffer(),
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

    it("loses its location and is rotated upright", async () => {
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

    it("loses all hidden data", async () => {
      const one = await member();
      const tail = "<script>alert(1)</script>";
      await one.send(Buffer.concat([await scene(nextSeed()).jpeg().toBuffer(), Buffer.from(tail)]));
      assert.ok(!(await one.picture())?.includes("script"));
    });
  });
  describe("an invalid form or picture", () => {
    describe("is refused", () => {
      it("is refused with the code of its defect, and stores nothing", async () => {
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
          "a bomb of 9000 x 9000": await plain(9_000, 9_000)
            .png({ compressionLevel: 9 })
            .toBuffer(),
          "a line": await plain(4_097, 32).png().toBuffer(),
          "a dot": await plain(31, 31).png().toBuffer(),
          noise: Buffer.alloc(2_000, 7),
        };
        for (const [name, bytes] of Object.entries(invalid)) {
          const { status, code } = await one.form([
            { bytes, filename: "a.png", type: "image/png" },
          ]);
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

      it("is refused when it is truncated, empty or of another type", async () => {
        const { token } = await member();
        const { body, headers } = formOf([{ bytes: await fresh() }]);
        const codeOf = async (options: { body?: Uint8Array; headers: Record<string, string> }) => {
          const { json } = await app.client.post(path, { token, ...options });
          return (json as { flash: { errors: { code: string }[] } }).flash.errors[0]?.code;
        };
        assert.equal(await codeOf({ headers }), "avatar:image_missing");
        assert.equal(
          await codeOf({ headers, body: body.subarray(0, -60) }),
          "avatar:image_missing",
        );
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

      it("may use any boundary that the standard allows", async () => {
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
    });
    describe("is read up to its length limit", () => {
      it("is not read beyond the length limit", async () => {
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

      it("may be chunked and gets one response; a request hidden in the trailer gets none", async () => {
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

      it("is not stored for callers without permission, who get 401 or 403", async () => {
        const { access_token: guest } = await enter(app);
        const { body, headers } = formOf([{ bytes: Buffer.alloc(4_000_000, 1) }]);
        assert.equal((await app.client.post(path, { headers, body })).status, 401);
        assert.equal((await app.client.post(path, { headers, body, token: "bad" })).status, 401);
        assert.equal((await app.client.post(path, { headers, body, token: guest })).status, 403);
        assert.equal((await app.client.delete(path)).status, 401);
        assert.equal((await app.client.delete(path, { token: guest })).status, 403);
      });
    });
  });
});
