import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import {
  createFolderStore,
  newPictureName,
} from "../../../../../server/features/avatars/domain/picture-store.ts";

describe("the folder of pictures", () => {
  const dir = mkdtempSync(join(tmpdir(), "ember-pictures-"));
  after(() => rmSync(dir, { recursive: true, force: true }));
  const store = createFolderStore({ DATA_DIR: dir });
  const files = async () => {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true });
    return entries.filter((one) => one.isFile()).map(({ name }) => name);
  };

  it("returns what was stored, under generated names only", async () => {
    const name = newPictureName();
    await store.write(name, Buffer.from("picture"));
    assert.equal((await store.read(name))?.toString(), "picture");
    assert.deepEqual(await files(), [name]);
    await assert.rejects(store.write("../../passwd", Buffer.from("x")));
    await store.remove(name);
    await store.remove(name);
    assert.deepEqual(await files(), []);
    assert.equal(await store.read(name), null);
  });

  it("keeps no partial picture when its process is killed during the write", async () => {
    const name = newPictureName();
    await store.write(name, Buffer.from("pic"));
    const path = join(dir, "avatars", name.slice(0, 2), name);
    await rename(path, `${path}.part`);
    await store.remove(name);
    assert.deepEqual(await files(), []);
  });
});
