import Type from "typebox";
import { pagedReply, reply, routesWith } from "../../http/pipeline/route.ts";
import { roleOf } from "../roles.ts";
import {
  presentQuality,
  questionProblems,
  questionVerbs,
  type QuestionService,
  type QuestionVerb,
} from "../../features/questions/domain/question-review.ts";
import { orNull, ReasonBody } from "../schemas.ts";
import { Id, Timestamp } from "../../platform/schemas.ts";

export interface QuestionsDeps {
  questions: QuestionService;
}

const defineRoute = routesWith<QuestionsDeps>();
const tag = "Operator";

const maxPage = 1_000;
const QuestionParams = Type.Object({ id: Id });

const QuestionBody = Type.Object({
  id: Type.Integer(),
  category: Type.String(),
  difficulty: Type.String(),
  pool: Type.Enum(["public", "competition"]),
  source: Type.String({ description: "driver that generated it" }),
  question: Type.String(),
  choices: Type.Array(Type.String()),
  correct_index: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "null for viewers while it is secret to players",
  }),
  explanation: orNull(Type.String()),
  estimated_rate: Type.Integer({ description: "percent expected to answer correctly" }),
  correct_rate: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "percent that answered correctly; null before the first answer",
  }),
  num_served: Type.Integer(),
  problems: Type.Array(Type.Enum([...questionProblems])),
  num_reports: Type.Integer({ description: "open reports of players" }),
  reports: Type.Record(Type.String(), Type.Integer(), { description: "open reports by reason" }),
  comments: Type.Array(Type.String(), { description: "texts of the latest open reports" }),
  created_at: Timestamp,
  retired_at: orNull(Timestamp),
});
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
    query: Type.Object({
      problem: Type.Optional(
        Type.Enum([...questionProblems], { description: "default: the first three" }),
      ),
      category: Type.Optional(Type.String({ maxLength: 64 })),
      page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1 }),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    }),
    isPaged: true,
    responses: { 200: Type.Object({ questions: Type.Array(QuestionBody) }) },
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
