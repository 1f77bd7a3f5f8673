import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { normalizePicture } from "../../../../../server/features/avatars/domain/images.ts";
import { scene } from "../../../../support/pictures.ts";

const joined = (...parts: (Uint8Array | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => Uint8Array.from(part)));
const changed = (bytes: Buffer, at: number, values: readonly number[]) => {
  const copy = Buffer.from(bytes);
  copy.set(values, at);
  return copy;
};

/** JPEGs as written by phones, editors and damaged cards; every browser shows them. */
function oddPictures(jpeg: Buffer): Record<string, Buffer> {
  const end = jpeg.length - 2;
  const second = 4 + jpeg.readUInt16BE(4);
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  const lastOfScan = scan + 2 + jpeg.readUInt16BE(scan + 2) - 1;
  const middle = Math.floor(jpeg.length * 0.6);
  return {
    "bytes before the last marker": joined(
      jpeg.subarray(0, end),
      Buffer.alloc(64),
      jpeg.subarray(end),
    ),
    "bytes after the last marker": joined(jpeg, Buffer.alloc(5_000, 7)),
    "bytes between two segments": joined(
      jpeg.subarray(0, second),
      [0, 0, 0],
      jpeg.subarray(second),
    ),
    "parameters of another kind of scan": changed(jpeg, lastOfScan - 1, [0]),
    "a marker inside the data": changed(jpeg, middle, [0xff, 0xd3]),
    "wrong bytes inside the data": changed(jpeg, middle, [0x55, 0x55, 0x55, 0x55]),
    "no last marker": jpeg.subarray(0, end),
  };
}

describe("a JPEG that decoders warn about", () => {
  const pictures: Record<string, Buffer> = {};
  before(async () => {
    pictures["baseline"] = await scene(1).jpeg().toBuffer();
    pictures["progressive"] = await scene(2).jpeg({ progressive: true }).toBuffer();
  });

  it("is accepted as browsers accept it", async () => {
    for (const [kind, jpeg] of Object.entries(pictures))
      for (const [name, bytes] of Object.entries(oddPictures(jpeg)))
        await assert.doesNotReject(normalizePicture(bytes), `${kind}: ${name}`);
  });

  it("is refused when part of it is missing", async () => {
    for (const [kind, jpeg] of Object.entries(pictures))
      for (const share of [0.3, 0.5, 0.8, 0.95])
        await assert.rejects(
          normalizePicture(jpeg.subarray(0, Math.floor(jpeg.length * share))),
          { code: "avatar:image_invalid" },
          `${kind}: ${share}`,
        );
  });
});
