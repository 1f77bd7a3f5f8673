import assert from "node:assert/strict";
import { it } from "node:test";
import { sayRarely } from "../../../server/core/repeats.ts";

it("says the same at once and then every ten seconds, with how many times it came", () => {
  const said: [string, number][] = [];
  let now = 0;
  const complain = sayRarely(
    (text, times) => said.push([text, times]),
    () => now,
  );
  for (now = 0; now < 25_000; now += 100) complain("no room");
  complain("no way");
  assert.deepEqual(said, [
    ["no room", 1],
    ["no room", 100],
    ["no room", 100],
    ["no way", 1],
  ]);
});

it("forgets what it said long ago when there is ever more to say", () => {
  const said: string[] = [];
  const complain = sayRarely(
    (text) => said.push(text),
    () => 0,
  );
  for (let n = 0; n <= 32; n++) complain(String(n));
  for (const text of ["32", "0"]) complain(text);
  assert.equal(said.length, 34);
  assert.equal(said.at(-1), "0");
});
