import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import sharp from "sharp";
import { noFaults } from "../../../../../server/platform/faults/recorder.ts";
import { createClassifier } from "../../../../../server/features/avatars/classifier/classifier.ts";
import {
  inputSide,
  type Answer,
} from "../../../../../server/features/avatars/classifier/contract.ts";
import { newPictureName } from "../../../../../server/features/avatars/domain/picture-store.ts";
import {
  normalizePicture,
  refusalOf,
} from "../../../../../server/features/avatars/domain/images.ts";
import {
  createModerator,
  decideByScores,
} from "../../../../../server/features/avatars/domain/moderator.ts";
import { perceptualHash } from "../../../../../server/features/avatars/domain/perceptual-hash.ts";
import { parseConfig } from "../../../../../server/platform/config/config.ts";
import { sourceFlags } from "../../../../support/programs.ts";
import { silentLogger } from "../../../../../server/platform/log/logger.ts";
import { startApp, type App } from "../../../../support/app.ts";
import { registerAccount } from "../../../../support/identity.ts";
import { formOf, plain, scene } from "../../../../support/pictures.ts";
import { noOrigin } from "../../../../../server/platform/origin.ts";

const stored = async (seed: number) => normalizePicture(await scene(seed).png().toBuffer());

describe("the perceptual hash", () => {
  const distance = (a: string | null, b: string | null) => {
    assert.ok(a && b);
    return [...a].filter((bit, index) => bit !== b[index]).length;
  };
  const hashOf = async (picture: { toBuffer(): Promise<Buffer> }) =>
    perceptualHash(await normalizePicture(await picture.toBuffer()));

  it("stays close when a picture is scaled, compressed, brightened or made grey", async () => {
    const original = await hashOf(scene(1, 400, 400).png());
    const copies = [
      scene(1, 400, 400).resize(120, 120).jpeg({ quality: 30 }),
      scene(1, 400, 400).modulate({ brightness: 1.15 }).webp(),
      scene(1, 400, 400).greyscale().png(),
      scene(1, 400, 400).blur(2).png(),
    ];
    for (const copy of copies) assert.ok(distance(original, await hashOf(copy)) <= 6);
  });

  it("is distant for another picture, and null for a picture without detail", async () => {
    const hashes = await Promise.all([11, 12, 13, 14, 15].map((seed) => hashOf(scene(seed).png())));
    for (const [i, a] of hashes.entries())
      for (const b of hashes.slice(i + 1)) assert.ok(distance(a, b) > 12, `${a} ${b}`);
    assert.equal(await hashOf(plain(64, 64).png()), null);
  });
});

describe("a picture that cannot be read", () => {
  it("is reported as invalid, unless decoding timed out", async () => {
    const slow = sharp({ create: { width: 4_096, height: 4_096, channels: 3, background: "red" } })
      .blur(200)
      .timeout({ seconds: 1 });
    const cause: unknown = await slow.toBuffer().catch((error: unknown) => error);
    assert.equal(refusalOf(cause).code, "server:unavailable", String(cause));
    assert.equal(refusalOf(new Error("VipsJpeg: premature end")).code, "avatar:image_invalid");
  });
});

describe("the classifier", () => {
  const dir = mkdtempSync(join(tmpdir(), "ember-classifier-"));
  const entryOf = (name: string, code: string) => {
    writeFileSync(join(dir, `${name}.mjs`), code);
    return pathToFileURL(join(dir, `${name}.mjs`));
  };
  after(() => rmSync(dir, { recursive: true, force: true }));

  it("rejects explicit pictures and sends doubtful ones to manual review, by the thresholds", () => {
    const limits = { AVATAR_REJECT_SCORE: 0.8, AVATAR_REVIEW_SCORE: 0.3 };
    const cases: [scores: Record<string, number>, status: string][] = [
      [{ neutral: 0.9, drawing: 0.1 }, "approved"],
      [{ neutral: 0.71, sexy: 0.29 }, "approved"],
      [{ neutral: 0.6, sexy: 0.4 }, "queued"],
      [{ sexy: 1 }, "queued"],
      [{ porn: 0.4, hentai: 0.3, neutral: 0.3 }, "queued"],
      [{ porn: 0.4, hentai: 0.4 }, "rejected"],
      [{ hentai: 0.95 }, "rejected"],
      [{}, "approved"],
    ];
    for (const [scores, status] of cases)
      assert.equal(decideByScores(scores, limits).status, status, JSON.stringify(scores));
    assert.ok(decideByScores({ porn: 1 }, limits).reason);
  });

  it("sends a picture to manual review and logs it when it cannot load or dies", async () => {
    const entries = [
      new URL("file:///nowhere/process.ts"),
      entryOf("dies", "process.exit(3)"),
      entryOf(
        "dies-later",
        "process.send({ id: 0, scores: {} }); process.on('message', () => process.exit(3));",
      ),
    ];
    const webp = await stored(20);
    for (const entry of entries) {
      const moderator = createModerator(
        parseConfig({}),
        { log: silentLogger, faults: noFaults },
        entry,
      );
      assert.equal(moderator.state(), "idle");
      for (let id = 1; id <= 2; id++) {
        const verdict = await moderator.moderate({ id, webp, origin: noOrigin });
        assert.deepEqual([verdict.status, verdict.by], ["queued", "unavailable"], entry.href);
        assert.equal(moderator.state(), "unavailable");
      }
      moderator.stop();
    }
  });

  it("ends with its worker, and ignores the signals of a service stop", async () => {
    const entry = fileURLToPath(
      new URL("../../../../../server/entries/classifier.ts", import.meta.url),
    );
    const child = fork(entry, { execArgv: [...sourceFlags], env: {}, serialization: "advanced" });
    const answer = async () => (await once(child, "message"))[0] as Answer;
    assert.equal((await answer()).id, 0);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) child.kill(signal);
    const pixels = new Uint8Array(inputSide * inputSide * 3);
    child.send({ id: 7, pixels });
    assert.equal((await answer()).id, 7);
    const gone = once(child, "exit");
    child.disconnect();
    assert.deepEqual(await gone, [0, null]);
  });

  it("restarts after a pause", async () => {
    const entry = entryOf("moody", "process.exit(3)");
    const classifier = createClassifier({ log: silentLogger, entry, pauseMs: 0 });
    await assert.rejects(classifier.classify(new Uint8Array(3)));
    writeFileSync(
      entry,
      "process.send({ id: 0, scores: {} }); process.on('message', ({ id }) => process.send({ id, scores: { neutral: 1 } }));",
    );
    assert.deepEqual(await classifier.classify(new Uint8Array(3)), { neutral: 1 });
    assert.equal(classifier.state(), "ready");
    classifier.stop();
    assert.equal(classifier.state(), "idle");
  });
});

/** A bucket of an S3-compatible store that checks signatures (AWS Signature Version 4). */
function startBucket(keyId: string, secret: string) {
  const objects = new Map<string, Buffer>();
  const bucket = { objects, failing: new Set<string>(), url: "", stop: async () => {} };
  const server = createServer((request, answer) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "" } = request;
      const end = (status: number, body?: Buffer) => answer.writeHead(status).end(body);
      if (!isSigned(request, keyId, secret)) return end(403);
      if (bucket.failing.has(method)) return end(501);
      if (method === "PUT") objects.set(url, Buffer.concat(chunks));
      const known = objects.get(url);
      if (method === "DELETE") return end(objects.delete(url) ? 204 : 404);
      return known ? end(200, method === "GET" ? known : undefined) : end(404);
    });
  });
  return new Promise<typeof bucket>((done) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      bucket.url = `http://${keyId}:${secret}@127.0.0.1:${port}/pictures/avatars?region=eu-west-1`;
      bucket.stop = async () => {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
      };
      done(bucket);
    });
  });
}

function isSigned({ method, url, headers }: IncomingMessage, keyId: string, secret: string) {
  const pattern = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/;
  const [, credential = "", names = "", signature] =
    pattern.exec(headers.authorization ?? "") ?? [];
  const [key, ...scope] = credential.split("/");
  const lines = names.split(";").map((name) => `${name}:${String(headers[name])}\n`);
  const payload = String(headers["x-amz-content-sha256"]);
  const canonical = [method, url, "", lines.join(""), names, payload].join("\n");
  const digest = createHash("sha256").update(canonical).digest("hex");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope.join("/"), digest].join("\n");
  const hmac = (by: string | Buffer, part: string) =>
    createHmac("sha256", by).update(part).digest();
  const signing = scope.reduce<string | Buffer>((by, part) => hmac(by, part), `AWS4${secret}`);
  return key === keyId && hmac(signing, text).toString("hex") === signature;
}

describe("uploads moderated by the real model and kept in a bucket", () => {
  let app: App;
  let bucket: Awaited<ReturnType<typeof startBucket>>;
  let token: string;
  let id: number;
  before(async () => {
    bucket = await startBucket("the-key", "the-secret");
    app = await startApp({ env: { AVATAR_STORE: bucket.url } });
    const { session } = await registerAccount(app);
    token = session.access_token;
    id = session.player.id;
  });
  after(async () => {
    await app.stop();
    await bucket.stop();
  });
  const send = async (seed: number) => {
    const form = formOf([{ bytes: await scene(seed).png().toBuffer() }]);
    const answer = await app.client.post("/v1/users/@me/avatar/upload", { token, ...form });
    const json = answer.json as { flash?: { errors: { code: string }[] } };
    return { ...answer, code: json.flash?.errors[0]?.code };
  };

  it("are moderated offline, with scores, and drawn from the bucket", async () => {
    const verdict = await app.deps.moderator.moderate({
      id: 1,
      webp: await stored(30),
      origin: noOrigin,
    });
    assert.equal(verdict.by, "classifier");
    const sum = Object.values(verdict.scores ?? {}).reduce((total, score) => total + score, 0);
    assert.ok(Math.abs(sum - 1) < 0.01);
    const before = { AVATAR_REJECT_SCORE: 0.85, AVATAR_REVIEW_SCORE: 0.4 };
    assert.equal(verdict.status, decideByScores(verdict.scores ?? {}, before).status);
    assert.equal(app.deps.moderator.state(), "ready");
    assert.equal((await send(3)).status, 200);
    const [path = ""] = bucket.objects.keys();
    assert.match(path, /^\/pictures\/avatars\/[\w-]{22}\.webp$/);
    const data = bucket.objects.get(path)?.toString("base64") ?? "nothing";
    const deadline = performance.now() + 60_000;
    const draw = async () => (await app.client.get(`/v1/players/${id}/avatar`)).text;
    // On a busy machine the decision may come after the response.
    while (!(await draw()).includes(data)) {
      assert.ok(performance.now() < deadline, "it was not approved");
      await new Promise((done) => setTimeout(done, 50));
    }
  });

  it("are refused as unreadable when the bucket does not return what was stored", async () => {
    const before = bucket.objects.size;
    bucket.failing.add("GET");
    const lost = await send(32);
    bucket.failing.clear();
    assert.deepEqual([lost.status, lost.code], [500, "avatar:image_unreadable"]);
    bucket.failing.add("PUT");
    const full = await send(33);
    bucket.failing.clear();
    assert.deepEqual([full.status, full.code], [503, "server:unavailable"]);
    assert.equal(bucket.objects.size, before, "nothing is left behind");
  });

  it("are missing when the bucket answers 404, not when it fails", async () => {
    const { pictureStore } = app.deps;
    assert.equal(await pictureStore.read(newPictureName()), null);
    bucket.failing.add("GET");
    await assert.rejects(pictureStore.read(newPictureName()), /answered 501/);
    bucket.failing.clear();
  });
});
