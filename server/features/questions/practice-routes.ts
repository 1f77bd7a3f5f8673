import { saveReport } from "../../../db/queries/questions/question-quality.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { AppError } from "../../platform/errors.ts";
import { nameOf } from "../../http/pipeline/idempotent-input.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { categorize } from "./categorize.ts";
import { drawForPlayer } from "./draw.ts";
import { answerPractice } from "./practice.ts";
import * as s from "./schemas.ts";
import type { QuestionDeps } from "./deps.ts";

const defineRoute = routesWith<QuestionDeps>();
const base = "/v1/games/trivia";
const tag = "Questions";

const categorizePrompt = defineRoute({
  method: "POST",
  path: `${base}/categorize`,
  summary: "Find the categories that match a prompt, best first",
  tag,
  deadlineMs: 15_000,
  auth: "public",
  source: "document 2, Categories and questions; TRV-08",
  rateLimit: { max: 20, window: 60 },
  body: s.CategorizeBody,
  responses: { 200: s.CategoryKeys },
  errors: [],
  handler: async ({ body, deps }) =>
    reply(200, { categories: await categorize(deps, body.prompt) }),
});

const draw = defineRoute({
  method: "GET",
  path: `${base}/questions/draw`,
  summary: "Draw a practice question, or one last answered incorrectly",
  tag,
  deadlineMs: 30_000,
  auth: "player",
  source: "document 2, Categories and questions; TRV-02, TRV-03, TRV-09, TRV-12",
  query: s.DrawQuery,
  responses: { 200: s.DrawnQuestion },
  errors: [],
  handler: async ({ query, caller, deps }) => {
    const { categories = null, category = null, prompt = null, ...rest } = query;
    const input = { categories, category, prompt, ...rest };
    return reply(200, s.presentDrawn(await drawForPlayer(deps, caller.playerId, input)));
  },
});

const answer = defineRoute({
  method: "POST",
  path: `${base}/questions/{id}/answer`,
  summary: "Answer a question and learn whether the answer is correct",
  tag,
  auth: "player",
  source: "document 2, Categories and questions; RUN-01, SCO-01, SCO-02, TRV-06, TRV-11, TRV-12",
  idempotent: true,
  params: s.QuestionParams,
  notFoundCode: "question:not_found",
  body: s.AnswerBody,
  responses: { 200: s.AnswerReveal },
  errors: ["question:not_found"],
  handler: async ({ params, body, caller, deps, memoizeForKey }) => {
    const result = await answerPractice(deps, caller, params.id, {
      selectedIndex: body.selected_index,
      timerDurationMs: body.timer_duration_ms ?? null,
      timeTakenMs: body.time_taken_ms ?? null,
      ref: await nameOf(memoizeForKey),
    });
    return reply(200, s.presentReveal(result));
  },
});

const report = defineRoute({
  method: "POST",
  path: `${base}/questions/{id}/report`,
  summary: "Report a problem with a question; only a player's last report counts",
  tag,
  auth: "player",
  source: "TRV-06, quality of questions",
  rateLimit: { max: 20, window: 60, per: "account" },
  params: s.QuestionParams,
  notFoundCode: "question:not_found",
  body: s.ReportBody,
  responses: { 200: s.Report, 201: s.Report },
  errors: ["question:not_found"],
  handler: async ({ params, body, caller, deps }) => {
    const now = deps.clock.now();
    const { playerId } = caller;
    const given = { questionId: params.id, playerId, ...body, at: new Date(now) };
    const saved = await deps.em.transactional((em) => saveReport(em, given));
    if (saved === null) throw new AppError("question:not_found");
    const shown = { question_id: params.id, ...body, created_at: timestamp(now) };
    return saved.isNew ? reply(201, { report: shown }) : reply(200, { report: shown });
  },
});

export const practiceRoutes: Route<QuestionDeps>[] = [categorizePrompt, draw, answer, report];
