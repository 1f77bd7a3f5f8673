import assert from "node:assert/strict";
import { test } from "node:test";
import { codeAlphabet, codeLength, lobbyCodeOf } from "../../../server/core/lobby-codes.ts";

test("a code is read in any case", () => {
  for (let at = 0; at < codeAlphabet.length; at += 1) {
    const code = (codeAlphabet + codeAlphabet).slice(at, at + codeLength);
    assert.equal(lobbyCodeOf(code), code);
    assert.equal(lobbyCodeOf(code.toLowerCase()), code);
  }
});

test("letters that upper case makes a code of are none", () => {
  for (const text of ["ABCDß", "ABCDEſ", "ABCDﬀ", "ABCDﬆ"]) {
    assert.match(text.toUpperCase(), new RegExp(`^[${codeAlphabet}]{${codeLength}}$`));
    assert.equal(lobbyCodeOf(text), null);
  }
});

test("other texts are no codes", () => {
  for (const text of ["", "ABCDE", "ABCDEFG", "ABCDE0", "ABCDEI", "ABCDEO", "ABCDE1", " ABCDEF"])
    assert.equal(lobbyCodeOf(text), null);
});
