import { countByCategory, listCatalog } from "../../../db/queries/questions/questions.ts";
import { routesWith, encodedReply, reply, type Route } from "../../http/pipeline/route.ts";
import { modelsOf } from "./providers/chat/settings.ts";
import { categories } from "./providers/question-model.ts";
import { slugOf } from "./categories.ts";
import * as s from "./schemas.ts";
import { practiceRoutes } from "./practice-routes.ts";
import { generateForPlayer } from "./service.ts";
import type { QuestionDeps } from "./deps.ts";

const defineRoute = routesWith<QuestionDeps>();
const base = "/v1/games/trivia";
const tag = "Questions";
/** Maximum age of counts; the Cache-Control of clients is far longer. */
const countsTtlMs = 2_000;

const listCategories = defineRoute({
  method: "GET",
  path: `${base}/categories`,
  summary: "List the categories with their number of questions",
  tag,
  auth: "public",
  source: "document 2, Categories and questions; TRV-01",
  cache: "public, max-age=600",
  responses: { 200: s.CategoryList },
  errors: [],
  handler: async ({ deps }) => {
    const { json, etag } = await deps.bodies.fetch("trivia/categories", countsTtlMs, async () => {
      const counts = await countByCategory(deps.em);
      const list = categories.map((name) => ({ name, num_questions: counts.get(name) ?? 0 }));
      return JSON.stringify({ categories: list });
    });
    return encodedReply(200, json, { etag });
  },
});

const listQuestions = defineRoute({
  method: "GET",
  path: `${base}/questions`,
  summary: "List stored public questions with their answers",
  tag,
  auth: "public",
  source: "document 2, Categories and questions; TRV-01, TRV-02, TRV-07, TRV-12",
  cache: "public, max-age=300",
  query: s.CatalogQuery,
  responses: { 200: s.CatalogList },
  errors: ["request:invalid_query"],
  handler: async ({ query, deps }) => {
    const { limit, offset } = query;
    const slug = query.category === undefined ? "random" : slugOf(query.category);
    const category = slug === "random" ? null : slug;
    const difficulty = query.difficulty === "auto" ? null : (query.difficulty ?? null);
    const rows = await listCatalog(deps.em, { category, difficulty, limit, offset });
    return reply(200, { questions: rows.map(s.presentCatalogQuestion) });
  },
});

const generate = defineRoute({
  method: "POST",
  path: `${base}/questions/generate`,
  summary: "Get new practice questions, generated if too few are stored",
  tag,
  deadlineMs: 30_000,
  auth: "player",
  source: "document 2, Categories and questions; TRV-02, TRV-03, TRV-04, TRV-05, TRV-12",
  rateLimit: { max: 30, window: 60 },
  body: s.GenerateBody,
  crossFieldChecks: ({ model }, config) => {
    const allowed = modelsOf(config);
    if (typeof model !== "string" || allowed.includes(model)) return [];
    return [{ propertyPath: "model", title: `must be one of ${allowed.join(", ")}` }];
  },
  responses: { 200: s.PlayList },
  errors: ["generator:unavailable"],
  handler: async ({ body, caller, deps }) => {
    const { category, difficulty, count, prompt = null, model = null } = body;
    const input = { category, difficulty, count, prompt, model };
    const questions = await generateForPlayer(deps, caller.playerId, input);
    return reply(200, { questions: questions.map(s.presentPlayQuestion) });
  },
});

export const questionsRoutes: Route<QuestionDeps>[] = [
  listCategories,
  listQuestions,
  generate,
  ...practiceRoutes,
];
