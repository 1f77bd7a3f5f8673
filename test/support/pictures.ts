import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { deflateSync, crc32 } from "node:zlib";
import sharp from "sharp";

/** A detailed picture that depends on the seed only; two seeds look completely different. */
export function scene(seed: number, width = 200, height = 160) {
  const spots = 10;
  const noise = Array.from({ length: 5 }, (_, n) =>
    createHash("sha512").update(`scene ${seed} ${n}`).digest(),
  );
  const colours = Buffer.concat(noise);
  // Neither black nor white, so that a brighter copy loses no detail.
  const spot = (x: number, y: number, c: number) =>
    20 + 0.7 * (colours[(Math.min(y, spots - 1) * spots + Math.min(x, spots - 1)) * 3 + c] ?? 0);
  const between = (from: number, to: number, share: number) => from + (to - from) * share;
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 3; c++) {
        const [left, top] = [(x / width) * (spots - 1), (y / height) * (spots - 1)];
        const [column, row] = [Math.floor(left), Math.floor(top)];
        const upper = between(spot(column, row, c), spot(column + 1, row, c), left - column);
        const lower = between(
          spot(column, row + 1, c),
          spot(column + 1, row + 1, c),
          left - column,
        );
        pixels[(y * width + x) * 3 + c] = between(upper, lower, top - row);
      }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

export const plain = (width: number, height: number, background = "#3366cc") =>
  sharp({ create: { width, height, channels: 3, background } });

/** A chunk of a PNG. */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

const integers = (...list: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * list.length);
  for (const [at, value] of list.entries()) bytes.writeUInt32BE(value, 4 * at);
  return bytes;
};

/** Combines two PNGs of the same size into an animation; simple readers show the first one. */
export function animatedPng(first: Buffer, second: Buffer, side: number): Buffer {
  const dataOf = (png: Buffer) => {
    const parts: Buffer[] = [];
    for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
      if (png.toString("latin1", at + 4, at + 8) === "IDAT")
        parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
    return Buffer.concat(parts);
  };
  const frame = (n: number) =>
    chunk("fcTL", Buffer.concat([integers(n, side, side, 0, 0), Buffer.from([0, 1, 0, 2, 0, 0])]));
  return Buffer.concat([
    first.subarray(0, 8 + 25),
    chunk("acTL", integers(2, 0)),
    frame(0),
    chunk("IDAT", dataOf(first)),
    frame(1),
    chunk("fdAT", Buffer.concat([integers(2), dataOf(second)])),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A few bytes of PNG whose header claims any size. */
export function claimingPng(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.alloc(1_000))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

export interface FormPart {
  name?: string;
  filename?: string | null;
  type?: string;
  bytes: Uint8Array | string;
}

/** The bytes of a form and its headers. */
export function formOf(parts: readonly FormPart[]) {
  const boundary = "----emberline-test-boundary";
  const chunks = parts.flatMap(({ name = "image", filename = "a.png", type, bytes }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    filename === null ? "" : `; filename="${filename}"`,
    type === undefined ? "" : `\r\nContent-Type: ${type}`,
    "\r\n\r\n",
    bytes,
    "\r\n",
  ]);
  const body = Buffer.concat([...chunks, `--${boundary}--\r\n`].map((one) => Buffer.from(one)));
  return { body, headers: { "content-type": `multipart/form-data; boundary=${boundary}` } };
}

export interface TestModerator {
  url: string;
  /** The response from now on; null keeps requests waiting. */
  answer: { status: number; body: unknown } | null;
  /** Ids of the uploads in requests. */
  asked: number[];
  /** Responds to waiting requests. */
  release(): void;
  /** Resolves when the next request arrives. */
  next(): Promise<void>;
  stop(): Promise<void>;
}

/** A moderator behind the webhook. */
export async function startTestModerator(): Promise<TestModerator> {
  const waiting: (() => void)[] = [];
  const held: (() => void)[] = [];
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { upload_id: id } = JSON.parse(Buffer.concat(chunks).toString()) as {
        upload_id: number;
      };
      moderator.asked.push(id);
      for (const tell of waiting.splice(0)) tell();
      const answer = () => {
        const { status, body } = moderator.answer ?? { status: 500, body: {} };
        reply.writeHead(status, { "content-type": "application/json" });
        reply.end(typeof body === "string" ? body : JSON.stringify(body));
      };
      if (moderator.answer === null) held.push(answer);
      else answer();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const moderator: TestModerator = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/judge`,
    answer: { status: 200, body: { verdict: "approved" } },
    asked: [],
    release: () => {
      for (const answer of held.splice(0)) answer();
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return moderator;
}
