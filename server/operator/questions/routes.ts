import Type from "typebox";
import { pagedReply, reply, routesWith } from "../../http/pipeline/route.ts";
import { roleOf } from "../roles.ts";
import {
  presentQuality,
  questionVerbs,
  type QuestionService,
  type QuestionVerb,
} from "../../features/questions/domain/question-review.ts";
import { ReasonBody } from "../schemas.ts";
import { Id } from "../../platform/schemas.ts";
import { questionPage, questionPathOf, questionsPage } from "./page.ts";
import { QuestionBody, QuestionsQuery } from "./schemas.ts";

export interface QuestionsDeps {
  questions: QuestionService;
}

const defineRoute = routesWith<QuestionsDeps>();
const tag = "Operator";

const QuestionParams = Type.Object({ id: Id });
const QuestionAnswer = Type.Object({ question: QuestionBody });

const summaries: Readonly<Record<QuestionVerb, string>> = {
  retire: "Retire a question and resolve its reports",
  restore: "Serve a retired question again",
  "dismiss-reports": "Resolve the reports of a correct question",
};

/** Questions reported by players, or answered correctly by almost nobody or everybody. */
export const questionRoutes = [
  defineRoute({
    method: "GET",
    path: "/operator/questions",
    tag,
    summary: "Questions with a problem: reported, too hard, too easy, or retired ones",
    auth: "viewer",
    source: "TRV-06, S15, ENV-05",
    query: QuestionsQuery,
    isPaged: true,
    responses: { 200: Type.Object({ questions: Type.Array(QuestionBody) }) },
    page: questionsPage,
    errors: [],
    handler: async ({ deps: { questions: service }, query, caller }) => {
      const { problem = null, category = null, page, limit } = query;
      const offset = (page - 1) * limit;
      const { rows, total } = await service.list({ problem, category, limit, offset });
      const questions = rows.map((row) => presentQuality(row, caller));
      const pagination = { page, limit, total, has_more: offset + rows.length < total };
      return pagedReply(200, { questions }, pagination);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/operator/questions/{id}",
    tag,
    summary: "One question with its rates and reports",
    auth: "viewer",
    source: "TRV-06, S15",
    params: QuestionParams,
    notFoundCode: "question:not_found",
    responses: { 200: QuestionAnswer },
    page: questionPage,
    errors: ["question:not_found"],
    handler: async ({ deps: { questions: service }, params, caller }) =>
      reply(200, { question: presentQuality(await service.find(params.id), caller) }),
  }),
  ...questionVerbs.map((verb) =>
    defineRoute({
      method: "POST",
      path: `/operator/questions/{id}/${verb}`,
      tag,
      summary: summaries[verb],
      auth: roleOf(`question:${verb}`),
      source: "TRV-06, S16",
      params: QuestionParams,
      notFoundCode: "question:not_found",
      body: ReasonBody,
      pageAfter: ({ params }) => questionPathOf(params.id),
      responses: { 200: QuestionAnswer },
      errors: ["question:not_found"],
      handler: async ({ deps: { questions: service }, params, body, caller, request }) => {
        const reason = body.reason.trim();
        const by = { operator: caller.name, reason, requestId: request.id };
        const row = await service.change(params.id, verb, by);
        return reply(200, { question: presentQuality(row, caller) });
      },
    }),
  ),
];
