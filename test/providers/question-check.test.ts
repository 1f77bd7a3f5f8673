import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  checkQuestion,
  checkQuestions,
} from "../../server/features/questions/providers/question-bank/check.ts";
import {
  hashPrompt,
  type GeneratedQuestion,
} from "../../server/features/questions/providers/question-model.ts";

const valid: GeneratedQuestion = {
  question: "What is the capital of France?",
  choices: ["Rome", "Paris", "Madrid", "Lisbon"],
  correctIndex: 1,
  explanation: "Paris has been the capital of France for most of its history.",
  estimatedRate: 80,
};
const withChange = (change: object): GeneratedQuestion => ({ ...valid, ...change });

/** Questions of a careless writer or model, and the checker's verdict. */
const broken: readonly [name: string, change: object, problem: RegExp][] = [
  ["three choices", { choices: ["Rome", "Paris", "Madrid"] }, /four choices/],
  ["five choices", { choices: ["Rome", "Paris", "Madrid", "Lisbon", "Bern"] }, /four choices/],
  ["an index without a choice", { correctIndex: 4 }, /no choice/],
  ["a broken index", { correctIndex: 1.5 }, /no choice/],
  ["the same choice twice", { choices: ["Rome", "Paris", "Rome", "Lisbon"] }, /mean the same/],
  [
    "choices that differ in case",
    { choices: ["rome", "Paris", "Rome", "Lisbon"] },
    /mean the same/,
  ],
  [
    "choices that differ in an article",
    { choices: ["Hague", "Paris", "The Hague", "Bern"] },
    /mean the same/,
  ],
  ["choices that differ in number", { choices: ["cat", "Paris", "cats", "Bern"] }, /mean the same/],
  ["the same number in two forms", { choices: ["1,000", "Paris", "1000.0", "2"] }, /mean the same/],
  ["an empty choice", { choices: [" ", "Paris", "Rome", "Bern"] }, /empty text/],
  ["an empty question", { question: "  " }, /empty text/],
  ["no explanation", { explanation: " " }, /no explanation/],
  ["a very long question", { question: "a".repeat(501) }, /too long/],
  ["a very long choice", { choices: ["a".repeat(201), "Paris", "Rome", "Bern"] }, /too long/],
  ["a rate above all", { estimatedRate: 101 }, /percentage/],
  ["markup", { question: "What is <b>this</b>?" }, /markup/],
  ["a script in the explanation", { explanation: "Hello there <script>x</script>" }, /markup/],
  ["a character reference", { explanation: "Fish &amp; chips are eaten there." }, /markup/],
  ["a link", { explanation: "See https://example.org for more." }, /link/],
  ["a link in markdown", { explanation: "See [this page](there) for more." }, /markup/],
  ["a control character", { question: "What is\u0007 this?" }, /control/],
  ["a turn of writing direction", { question: "What is \u202ethis?" }, /control/],
  ["half of a pair of surrogates", { explanation: "It is \ud800, as everybody knows." }, /control/],
  [
    "a choice that only looks different to a machine",
    { choices: ["Ro\u00adme", "Paris", "Rome", "Bern"] },
    /control/,
  ],
  ["an unfilled template", { question: "What is the capital of {country}?" }, /template/],
  ["a missing value", { explanation: "The capital is undefined, they say." }, /template/],
  ["the answer itself", { question: "Is Paris the capital of France?" }, /says the answer/],
  [
    "a year that is the answer",
    {
      question: "In which year did the series of 2004 begin?",
      choices: ["2002", "2004", "2006", "2008"],
    },
    /says the answer/,
  ],
  [
    "a word of the answer alone",
    {
      question: "Which bridge crosses the harbour of Sydney?",
      choices: ["Golden Gate", "Sydney Span", "Tower", "Rialto"],
    },
    /gives the answer away/,
  ],
];

describe("the checker of questions", () => {
  it("accepts a sound question", () => {
    assert.equal(checkQuestion(valid), null);
  });

  for (const [name, change, problem] of broken)
    it(`refuses ${name}`, () => {
      assert.match(checkQuestion(withChange(change)) ?? "nothing", problem);
    });

  it("allows a wrong choice to share a word with the question", () => {
    const question = "Which palace of Venice belonged to the doges?";
    const choices = ["Palace of Venice", "Palace Ducale", "Palace Grassi", "Palace Fortuny"];
    assert.equal(checkQuestion(withChange({ question, choices })), null);
  });

  it("distinguishes formulas by their signs", () => {
    assert.equal(checkQuestion(withChange({ choices: ["x + 1", "x − 1", "-5", "5"] })), null);
  });

  it("distinguishes words by diacritics above or below their letters", () => {
    const choices = ["किला", "काला", "कुली", "कोला"];
    assert.equal(checkQuestion(withChange({ choices })), null);
    assert.equal(new Set(choices.map(hashPrompt)).size, choices.length);
  });

  it("finds a repeated text, whatever its punctuation", () => {
    const again = withChange({ question: "What is the capital of FRANCE" });
    assert.deepEqual(checkQuestions([valid, again]), [
      { question: again.question, problem: "is asked twice" },
    ]);
  });

  it("finds a set whose correct answers are mostly in one position", () => {
    const list = (index: (n: number) => number) =>
      Array.from({ length: 100 }, (_, n) => {
        const correctIndex = index(n);
        const choices = ["Rome", "Madrid", "Lisbon", "Bern"].map((c, i) =>
          i === correctIndex ? "Paris" : c,
        );
        return withChange({ question: `Question number ${n}?`, choices, correctIndex });
      });
    assert.deepEqual(checkQuestions(list((n) => n % 4)), []);
    const problems = checkQuestions(list((n) => (n % 2 === 0 ? 1 : n % 4)));
    assert.equal(problems.length, 1);
    assert.match(problems[0]?.problem ?? "", /unevenly/);
  });
});
