import type { Static } from "typebox";
import {
  questionProblems,
  questionVerbs,
  type QuestionVerb,
} from "../../features/questions/domain/question-review.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import type { Pagination } from "../../http/pipeline/route.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { addressWith, pageLinks, tabs } from "../links.ts";
import { mayMake } from "../roles.ts";
import { maxReason } from "../schemas.ts";
import type { QuestionBody, QuestionsQuery } from "./schemas.ts";

export const questionsPath = "/operator/questions";
export const questionPathOf = (id: number): string => `${questionsPath}/${id}`;

const problemNames = {
  reported: "Reported",
  too_hard: "Too hard",
  too_easy: "Too easy",
  retired: "Retired",
} as const;

interface QuestionsView {
  body: { questions: QuestionBody[] };
  query: Static<typeof QuestionsQuery>;
  pagination: Pagination | null;
  caller: OperatorCaller;
}

/** Questions with a problem (TRV-06). */
export function questionsPage({ body, query, pagination, caller }: QuestionsView): Html {
  const { problem, category } = query;
  const to = (change: Record<string, string | number | undefined>) =>
    addressWith(questionsPath, { problem, category, ...change });
  return page(
    { title: "Questions", caller },
    html`<h1>Questions</h1>
      ${tabs([
        [problem === undefined, to({ problem: undefined }), "Any problem"],
        ...questionProblems.map(
          (name) => [problem === name, to({ problem: name }), problemNames[name]] as const,
        ),
      ])}
      ${
        category !== undefined &&
        html`<p>Of ${category}. <a href="${to({ category: undefined })}">All categories</a></p>`
      }
      ${
        body.questions.length === 0
          ? html`<p>None.</p>`
          : table(
              "Questions",
              ["Question", "Category", "Difficulty", "Problems", "Reports", "Served", "Correct %"],
              body.questions.map((question) => questionRow(question, to)),
            )
      }
      ${pageLinks(pagination, (number) => to({ page: number, limit: query.limit }))}`,
  );
}

const questionRow = (
  question: QuestionBody,
  to: (change: Record<string, string | number | undefined>) => string,
): Value[] => [
  html`<a href="${questionPathOf(question.id)}">${question.question}</a>`,
  html`<a href="${to({ category: question.category })}">${question.category}</a>`,
  question.difficulty,
  problemsText(question),
  marked(question.num_reports, question.num_reports > 0),
  question.num_served,
  question.correct_rate,
];

const problemsText = ({ problems }: QuestionBody) =>
  problems.map((name) => problemNames[name]).join(", ");

interface QuestionView {
  body: { question: QuestionBody };
  caller: OperatorCaller;
}

/** One question with its choices, rates and reports, and what this operator may do with it. */
export const questionPage = ({ body: { question }, caller }: QuestionView): Html =>
  page(
    { title: "Question", caller },
    html`<h1>${question.question}</h1>
      ${choicesOf(question)}
      ${question.explanation !== null && html`<p>${question.explanation}</p>`}
      ${table("Facts", ["What", "Value"], factsOf(question))} ${reportsOf(question)}
      ${changeForm(question, caller)}
      <p><a href="${questionsPath}">All questions with a problem</a></p>`,
  );

function choicesOf({ choices, correct_index }: QuestionBody): Value {
  return [
    html`<ol>
      ${choices.map((text, at) =>
        at === correct_index ? html`<li><b>${text}</b> (correct)</li>` : html`<li>${text}</li>`,
      )}
    </ol>`,
    correct_index === null &&
      html`<p class="quiet">The answer is secret to players, and so not shown to viewers.</p>`,
  ];
}

function factsOf(question: QuestionBody): Value[][] {
  const facts: [name: string, value: Value][] = [
    ["Id", question.id],
    ["Problems", problemsText(question) || "none"],
    ["Category", question.category],
    ["Difficulty", question.difficulty],
    ["Pool", question.pool],
    ["Made by", question.source],
    ["Expected to be correct, %", question.estimated_rate],
    ["Answered correctly, %", question.correct_rate],
    ["Served", question.num_served],
    ["Made", timeCell(question.created_at)],
    ["Retired", question.retired_at && timeCell(question.retired_at)],
  ];
  return facts.filter(([, value]) => value !== null);
}

function reportsOf({ num_reports, reports, comments }: QuestionBody): Value {
  if (num_reports === 0) return null;
  return [
    table("Open reports", ["Reason", "Number"], Object.entries(reports)),
    comments.length > 0 &&
      html`<h2>What players wrote</h2>
        <ul>
          ${comments.map((text) => html`<li>${text}</li>`)}
        </ul>`,
  ];
}

const verbNames: Readonly<Record<QuestionVerb, string>> = {
  retire: "Retire",
  restore: "Restore",
  "dismiss-reports": "Dismiss reports",
};

/** True if the change would change this question. */
const applies: Readonly<Record<QuestionVerb, (question: QuestionBody) => boolean>> = {
  retire: ({ retired_at }) => retired_at === null,
  restore: ({ retired_at }) => retired_at !== null,
  "dismiss-reports": ({ num_reports }) => num_reports > 0,
};

/** One reason, and a button for each change that applies and that this operator may make. */
function changeForm(question: QuestionBody, { role }: OperatorCaller): Value {
  const offered = questionVerbs.filter(
    (verb) => applies[verb](question) && mayMake(role, `question:${verb}`),
  );
  if (offered.length === 0) return null;
  const path = questionPathOf(question.id);
  return html`<h2>Change</h2>
    <form method="post">
      <label for="reason">Reason (for the audit log)</label
      ><input id="reason" name="reason" maxlength="${maxReason}" required />
      <p>
        ${offered.map(
          (verb) => html`<button formaction="${path}/${verb}">${verbNames[verb]}</button> `,
        )}
      </p>
    </form>`;
}
