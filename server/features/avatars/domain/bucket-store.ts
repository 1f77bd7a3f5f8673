import { AwsClient } from "aws4fetch";
import type { PictureStore } from "./picture-store.ts";
import { requirePictureName } from "./picture-store.ts";

/** Timeout of a request to the store. */
const limitMs = 10_000;
/** Retries after a 429 or a 5xx. */
const retries = 2;
const maxPictureBytes = 4 * 1024 * 1024;

/**
 * Pictures in a bucket of an S3-compatible store, at
 * `https://<key id>:<secret>@<host>/<bucket>[/<prefix>][?region=<region>]`.
 */
export function createBucketStore(address: string): PictureStore {
  const url = new URL(address);
  const client = new AwsClient({
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
    service: "s3",
    region: url.searchParams.get("region") ?? "us-east-1",
    retries,
  });
  const root = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  const ask = async (method: string, name: string, body?: Uint8Array): Promise<Response> =>
    client.fetch(`${root}/${requirePictureName(name)}`, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(limitMs),
      ...(body ? { body: Buffer.from(body), headers: { "Content-Type": "image/webp" } } : {}),
    });
  return {
    write: async (name, bytes) => {
      const answer = await ask("PUT", name, bytes);
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`the picture store answered ${answer.status}`);
    },
    read: async (name) => {
      const answer = await ask("GET", name);
      const size = Number(answer.headers.get("content-length") ?? 0);
      if (!answer.ok || size > maxPictureBytes) {
        await answer.body?.cancel();
        if (answer.status === 404) return null;
        throw new Error(`the picture store answered ${answer.status}, ${size} bytes`);
      }
      return Buffer.from(await answer.arrayBuffer());
    },
    remove: async (name) => {
      const answer = await ask("DELETE", name);
      await answer.body?.cancel();
      if (!answer.ok && answer.status !== 404)
        throw new Error(`the picture store answered ${answer.status}`);
    },
  };
}
