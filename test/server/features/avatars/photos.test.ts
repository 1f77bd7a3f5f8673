import assert from "node:assert/strict";
import { describe, it } from "node:test";
import sharp from "sharp";
import { fresh, member, startsUploadApp } from "./upload-app.ts";

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#b05a2c" }, limitInputPixels: false });

/** A JPEG that claims another size in its frame header; a progressive one has a header of its own. */
function claiming(jpeg: Buffer, width: number, height: number): Buffer {
  const copy = Buffer.from(jpeg);
  const frame = Math.max(...[0xc0, 0xc2].map((kind) => copy.indexOf(Buffer.from([0xff, kind]))));
  copy.writeUInt16BE(height, frame + 5);
  copy.writeUInt16BE(width, frame + 7);
  return copy;
}

describe("a photo as an avatar", () => {
  startsUploadApp();

  it("has up to 50 megapixels as JPEG or WebP, as phones take it", async () => {
    const one = await member();
    const photos = {
      "24 megapixels on its side": await plain(5_712, 4_284)
        .withMetadata({ orientation: 6 })
        .jpeg()
        .toBuffer(),
      "24 megapixels as WebP": await plain(5_712, 4_284).webp({ effort: 0 }).toBuffer(),
      "50 megapixels": await plain(8_192, 6_144).jpeg().toBuffer(),
      "more than 5 MiB": Buffer.concat([
        await plain(4_000, 3_000).jpeg().toBuffer(),
        Buffer.alloc(11 * 1_048_576),
      ]),
    };
    for (const [name, bytes] of Object.entries(photos)) {
      const { status, text } = await one.form([{ bytes }]);
      assert.equal(status, 200, `${name}: ${text}`);
      const { width, height } = await sharp((await one.picture()) ?? assert.fail()).metadata();
      assert.deepEqual([width, height], [512, 512], name);
    }
  });

  it("is refused by the rule that it breaks", async () => {
    const one = await member();
    const jpeg = await plain(64, 64).jpeg().toBuffer();
    const print = await plain(64, 64).toColourspace("cmyk").jpeg({ progressive: true }).toBuffer();
    const png = await fresh();
    const photo = { min_side: 32, max_pixels: 8_192 * 6_144 };
    const drawing = { min_side: 32, max_side: 4_096, max_pixels: 4_096 * 4_096 };
    const refused: [bytes: Buffer, params: object][] = [
      [Buffer.from("<svg/>"), { rule: "format" }],
      [claiming(jpeg, 8_193, 6_144), { rule: "pixels", ...photo }],
      // Kept whole while it is read: 384 MiB for 50 megapixels.
      [claiming(print, 8_192, 6_144), { rule: "pixels", ...photo, max_pixels: 6_144 * 6_144 }],
      [await plain(31, 64).jpeg().toBuffer(), { rule: "pixels", ...photo }],
      [await plain(4_097, 32).png().toBuffer(), { rule: "pixels", ...drawing }],
      [
        Buffer.concat([png, Buffer.alloc(5 * 1_048_576)]),
        { rule: "bytes", max_bytes: 5 * 1_048_576 },
      ],
      [png.subarray(0, png.length / 2), { rule: "damaged" }],
    ];
    for (const [bytes, params] of refused) {
      const { json } = await one.form([{ bytes }]);
      const { flash } = json as { flash: { errors: { code: string; params: object }[] } };
      const [error] = flash.errors;
      assert.deepEqual([error?.code, error?.params], ["avatar:image_invalid", params]);
    }
    const two = await one.form([{ bytes: png }, { bytes: png }]);
    assert.match(two.text, /"rule":"one_file"/);
  });
});
