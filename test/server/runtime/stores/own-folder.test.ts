import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { acquireExclusive } from "../../../../server/runtime/boot/lock.ts";
import { operatorToken } from "../../../../server/runtime/boot/operator-token.ts";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import {
  giveFolder,
  makeOwnFolder,
  ownUid,
  removeOwnFolder,
} from "../../../../server/runtime/stores/own-folder.ts";
import { startLocalPostgres } from "../../../../server/runtime/stores/postgres.ts";
import { postgresUser } from "../../../../server/runtime/stores/postgres-user.ts";
import { startLocalRedis } from "../../../../server/runtime/stores/redis.ts";
import { runningSocketDir, socketDirFor } from "../../../../server/runtime/stores/sockets.ts";

const isRoot = ownUid() === 0;
/** Two users of the machine other than the current one and the account of Postgres. */
const [otherUser, other] = [4_242, 4_243];

/**
 * A folder of another user at this path. Without root nobody can create one, so an existing folder of root
 * is used.
 */
function createdByOtherUser(dir: string): string {
  if (!isRoot) return "/usr";
  mkdirSync(dir);
  lchownSync(dir, otherUser, otherUser);
  return dir;
}

describe("folders at well-known paths", () => {
  const given = process.env["TMPDIR"];
  let dir: string;
  let otherFolder: string;
  beforeEach(() => {
    dir = mkdtempSync(join(given ?? tmpdir(), "own-"));
    chmodSync(dir, 0o755);
    otherFolder = join(dir, "precious");
    mkdirSync(otherFolder, { mode: 0o750 });
    writeFileSync(join(otherFolder, "file"), "as it was", { mode: 0o640 });
    process.env["TMPDIR"] = dir;
  });
  afterEach(() => {
    const [folder, file] = [statSync(otherFolder), statSync(join(otherFolder, "file"))];
    const facts = [folder.uid, folder.mode & 0o777, file.uid, file.mode & 0o777];
    assert.deepEqual(facts, [ownUid(), 0o750, ownUid(), 0o640], "nothing behind a link changes");
    assert.equal(readFileSync(join(otherFolder, "file"), "utf8"), "as it was");
    if (given === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = given;
    rmSync(dir, { recursive: true, force: true });
  });

  it("are created for the current user only, and reused", () => {
    const sockets = socketDirFor(join(dir, "data"));
    const { uid, mode } = statSync(sockets);
    assert.deepEqual([uid, mode & 0o777], [ownUid(), isRoot ? 0o711 : 0o700]);
    chmodSync(sockets, 0o777);
    assert.equal(socketDirFor(join(dir, "data")), sockets);
    assert.equal(statSync(sockets).mode & 0o022, 0, "others may no longer write in it");
  });

  it("are refused for sockets when another user created them first, also for root", () => {
    const data = join(dir, "data");
    const place = socketDirFor(data);
    rmSync(place, { recursive: true });
    if (isRoot) {
      createdByOtherUser(place);
      assert.throws(() => socketDirFor(data), /belongs to somebody else; remove it or set TMPDIR/);
      assert.throws(() => runningSocketDir(data), /belongs to somebody else/);
      assert.equal(statSync(place).uid, otherUser);
      rmSync(place, { recursive: true });
    }
    for (const target of [otherFolder, join(dir, "nowhere")]) {
      symlinkSync(target, place);
      assert.throws(() => socketDirFor(data), /belongs to somebody else/);
      assert.throws(() => runningSocketDir(data), /belongs to somebody else/);
      rmSync(place);
    }
    assert.ok(!existsSync(join(dir, "nowhere")));
    writeFileSync(place, "");
    assert.throws(() => socketDirFor(data), /belongs to somebody else/);
  });

  it("are trusted by a connecting process when they belong to the owner of the data", () => {
    const data = join(dir, "data");
    const place = socketDirFor(data);
    mkdirSync(data);
    assert.equal(runningSocketDir(data), place);
    if (!isRoot) return;
    for (const path of [data, place]) lchownSync(path, otherUser, otherUser);
    assert.equal(runningSocketDir(data), place);
    lchownSync(data, other, other);
    assert.throws(() => runningSocketDir(data), /belongs to somebody else/);
  });

  it("of a store are refused when they belong to another user, or are a link of another user", async () => {
    const foreign = createdByOtherUser(join(dir, "foreign"));
    const log = silentLogger;
    const [dataDir, socketDir] = [join(dir, "d"), join(dir, "s")];
    for (const start of [startLocalPostgres, startLocalRedis])
      await assert.rejects(start({ dataDir, socketDir: foreign, log }), /belongs to another user/);
    await assert.rejects(startLocalRedis({ dataDir: foreign, socketDir, log }), /another user/);
    assert.throws(() => removeOwnFolder(foreign, null), /belongs to another user/);
    if (!isRoot) return;
    writeFileSync(join(foreign, "PG_VERSION"), "18\n");
    await assert.rejects(startLocalPostgres({ dataDir: foreign, socketDir, log }), /another user/);
    const link = join(dir, "link");
    symlinkSync(otherFolder, link);
    lchownSync(link, otherUser, otherUser);
    await assert.rejects(startLocalRedis({ dataDir: link, socketDir, log }), /is a link/);
    await assert.rejects(startLocalPostgres({ dataDir, socketDir: link, log }), /is a link/);
    assert.throws(() => removeOwnFolder(link, null), /is a link/);
  });

  it("may be the user's own links, for example to a larger disk", () => {
    const large = join(dir, "large");
    mkdirSync(large);
    symlinkSync(large, join(dir, "data"));
    makeOwnFolder(join(dir, "data"), { mode: 0o700 });
    assert.equal(statSync(large).mode & 0o777, 0o700);
  });

  it("change owner with their contents, but not with the targets of links", () => {
    const folder = join(dir, "moved");
    mkdirSync(join(folder, "base", "1"), { recursive: true });
    writeFileSync(join(folder, "base", "1", "data"), "");
    symlinkSync(otherFolder, join(folder, "base", "link"));
    symlinkSync(join(otherFolder, "file"), join(folder, "file-link"));
    const owner = isRoot
      ? { uid: otherUser, gid: otherUser }
      : { uid: ownUid(), gid: process.getgid?.() ?? 0 };
    giveFolder(folder, owner);
    for (const name of [".", "base", "base/1", "base/1/data"])
      assert.equal(lstatSync(join(folder, name)).uid, owner.uid, name);
    if (!isRoot) return;
    const second = join(dir, "second");
    mkdirSync(second);
    linkSync(join(otherFolder, "file"), join(second, "twice"));
    assert.throws(() => giveFolder(second, owner), /has a second name elsewhere/);
    assert.equal(statSync(second).uid, 0, "it is tried again");
    const mixed = join(dir, "mixed");
    mkdirSync(join(mixed, "theirs"), { recursive: true });
    lchownSync(join(mixed, "theirs"), other, other);
    assert.throws(() => giveFolder(mixed, owner), /belongs to another user/);
  });

  it("receive no file through a link, and provide no token of another user", () => {
    const data = join(dir, "data");
    mkdirSync(data);
    const target = join(otherFolder, "file");
    for (const name of [`.probe-${process.pid}`, `primary.lock.${process.pid}.new`])
      symlinkSync(target, join(data, name));
    const lock = acquireExclusive(data);
    assert.ok("release" in lock);
    lock.release();
    const config = parseConfig({ DATA_DIR: data });
    const token = operatorToken(config);
    assert.equal(operatorToken(config), token);
    const file = join(data, "operator-token");
    rmSync(file);
    symlinkSync(target, file);
    assert.throws(() => operatorToken(config), /another user or is a link/);
    rmSync(file);
    writeFileSync(file, "chosen by a stranger\n");
    if (!isRoot) return;
    lchownSync(file, otherUser, otherUser);
    assert.throws(() => operatorToken(config), /another user or is a link/);
  });
});

describe("the system account that runs Postgres", () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "accounts-"));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  it("is the postgres account, never nobody", () => {
    const accounts = join(dir, "passwd");
    writeFileSync(accounts, "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n");
    if (isRoot) assert.throws(() => postgresUser(accounts), /useradd --system postgres/);
    else assert.equal(postgresUser(accounts), null);
    writeFileSync(accounts, "nobody:x:65534:65534::/:\npostgres:x:101:104::/:/bin/sh\n");
    assert.deepEqual(postgresUser(accounts), isRoot ? { uid: 101, gid: 104 } : null);
  });
});
