import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { PeerLinks } from "../../../actors/wire/peer-links.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { eventually } from "../../support/eventually.ts";

interface Peer {
  links: PeerLinks;
  received: string[];
  lost: string[];
}

let dir: string;
const peers = new Map<string, Peer>();

function startPeer(name: string): Peer {
  const received: string[] = [];
  const lost: string[] = [];
  const links = new PeerLinks({ dir, nodeId: name, log: silentLogger });
  links.received.on((message) => received.push(message));
  links.lost.on((target) => lost.push(target));
  const peer = { links, received, lost };
  peers.set(name, peer);
  return peer;
}

/** The first message takes another way while the link connects. */
const linked = (peer: Peer, target: string) =>
  eventually(`a link to ${target}`, () => peer.links.send(target, "[]"));

describe("links between the processes of one machine", () => {
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "links-"));
  });
  afterEach(() => {
    for (const { links } of peers.values()) links.close();
    peers.clear();
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  it("carry each message whole and in order, whatever its content and length", async () => {
    const from = startPeer("from");
    const to = startPeer("to");
    await linked(from, "to");
    const messages = ["Grüße 🎲", "x".repeat(300_000), ...Array.from({ length: 500 }, String)].map(
      (text) => JSON.stringify([text]),
    );
    for (const message of messages) assert.ok(from.links.send("to", message));
    await eventually("all have come", () => to.received.includes(messages.at(-1) ?? ""));
    assert.deepEqual(
      to.received.filter((one) => one !== "[]"),
      messages,
    );
  });

  it("accept no message for a process that does not listen on this machine", async () => {
    const from = startPeer("from");
    for (let n = 0; n < 5; n++) assert.equal(from.links.send("elsewhere", "[]"), false);
    assert.deepEqual(from.lost, [], "nothing was on its way");
  });

  it("accept a bounded number of bytes for a process that reads nothing", async () => {
    const from = startPeer("from");
    const to = startPeer("to");
    await linked(from, "to");
    const message = JSON.stringify(["y".repeat(1_000_000)]);
    let taken = 0;
    // Nothing is read while this loop blocks the thread.
    while (from.links.send("to", message)) taken += 1;
    assert.ok(taken >= 4 && taken < 10, `${taken} MB`);
    await eventually("what was taken comes", () => to.received.includes(message));
  });

  it("report an exited process once, and connect to the next process of that name", async () => {
    const from = startPeer("from");
    const to = startPeer("to");
    await linked(from, "to");
    to.links.close();
    await eventually("the loss is reported", () => from.lost.length > 0);
    assert.deepEqual(from.lost, ["to"]);
    assert.equal(from.links.send("to", "[]"), false);
    startPeer("to");
    await linked(from, "to");
  });

  it("leave no socket of a process that has exited for good", async () => {
    const from = startPeer("from");
    startPeer("to");
    await linked(from, "to");
    const file = join(dir, "to.sock");
    assert.ok(existsSync(file));
    from.links.drop("to");
    assert.ok(!existsSync(file));
    assert.deepEqual(from.lost, [], "forgetting a node reports no loss");
  });

  it("cut off a process that sends a line without an end", async () => {
    const to = startPeer("to");
    const socket = connect(join(dir, "to.sock"));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => undefined);
    const piece = Buffer.alloc(1_048_576, "z");
    const push = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on("drain", push);
    push();
    await closed;
    assert.deepEqual(to.received, []);
  });
});
