import assert from "node:assert/strict";
import { test } from "node:test";
import {
  codeAlphabet,
  codeLength,
  exactCodeOf,
  roomCodeOf,
} from "../../../../server/platform/text/room-codes.ts";
import { lobbyCode } from "../../../../server/web/client/emberline.ts";
import { processorSeconds } from "../../../support/processor-time.ts";

test("a code is accepted in any case", () => {
  for (let at = 0; at < codeAlphabet.length; at += 1) {
    const code = (codeAlphabet + codeAlphabet).slice(at, at + codeLength);
    assert.equal(roomCodeOf(code), code);
    assert.equal(roomCodeOf(code.toLowerCase()), code);
  }
});

test("letters that become code letters only in upper case are refused", () => {
  for (const text of ["ABCDß", "ABCDEſ", "ABCDﬀ", "ABCDﬆ"]) {
    assert.match(text.toUpperCase(), new RegExp(`^[${codeAlphabet}]{${codeLength}}$`));
    assert.equal(roomCodeOf(text), null);
  }
});

test("other texts are not codes", () => {
  for (const text of ["", "ABCDE", "ABCDEFG", "ABCDE0", "ABCDEI", "ABCDEO", "ABCDE1", "ABC DEFG"])
    assert.equal(roomCodeOf(text), null);
});

test("a code is found in the forms in which people share it", () => {
  const texts = [
    " ABC234",
    "abc 234\n",
    "ABC-234",
    "a b c - 2 3 4",
    "ABC\u2013234",
    "\u202aABC234\u202c",
    "\u200fABC\u00ad234\u200e",
    "\ufeffABC\u00a0234",
    "ＡＢＣ２３４",
    "ａｂｃ－２３４",
    "ABC٢٣٤",
    "https://games.example/play#ABC234",
    "https://games.example/play#watch=ABC234",
    "games.example/join/abc-234/",
    "https://games.example/join?from=tweets&code=ABC234",
    "https://games.example/join?code=ABC234&via=server",
    "https%3A%2F%2Fgames.example%2Fplay%23ABC234",
    "Join my game: https://games.example/play#ABC234 now",
    "https://games.example/play#ABC234.",
    "<https://games.example/play#ABC234>",
    "(games.example/play#abc234)!",
    "https://games.example/play?code=ABC%20234",
    "„ABC234“",
    "(ABC 234)",
    "#ABC234",
    "ABC234.",
    "ＡＢＣー２３４",
    "ABC─234",
    "ABC_234",
    "abc.234",
    "ABC・234",
    "Code: ABC 234",
    "code=ABC234",
    "Please join with ABC234!",
  ];
  for (const text of texts) assert.equal(roomCodeOf(text), "ABC234", text);
});

test("a link without a code, or of excessive length, has no code", () => {
  const long = `https://games.example/${"x".repeat(10_000)}#ABC234`;
  for (const text of ["https://games.example/play", "/#", "%E0%A4%A", "x/%", long])
    assert.equal(roomCodeOf(text), null);
});

test("a text is parsed in bounded time, whatever the input", () => {
  const started = processorSeconds();
  for (const unit of [".", "-a", "a.", "\u0301", ". /", "%", "ー"])
    roomCodeOf(`${unit.repeat(2_048 / unit.length)}`);
  assert.ok(processorSeconds() - started < 0.5);
});

test("a topic name contains the code and nothing around it", () => {
  assert.equal(exactCodeOf("abc234"), "ABC234");
  for (const text of ["ABC-234", " ABC234", "x/ABC234"]) assert.equal(exactCodeOf(text), null);
});

test("the client parses codes as the service does", () => {
  for (const text of [
    "abc-234",
    "“ABC 234”.",
    "https://games.example/play#ABC234.",
    "\u202aabc234\u202c",
    "ＡＢＣ２３４",
    "Code: ABC_234",
  ])
    assert.equal(lobbyCode(text), "ABC234");
  assert.equal(lobbyCode("https://games.example/play#watch=ABC234"), "ABC234");
  assert.equal(lobbyCode("https://games.example/join?code=ABC234&via=server"), "ABC234");
  assert.equal(lobbyCode("nothing"), "NOTHING");
});
