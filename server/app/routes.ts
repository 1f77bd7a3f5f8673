import type { Route } from "../http/pipeline/route.ts";
import type { Deps } from "./deps.ts";
import { roomKinds } from "./rooms.ts";
import { avatarRoutes } from "../features/avatars/routes.ts";
import { codexRoutes } from "../features/archive/routes.ts";
import { gatewayRoutes } from "../features/sessions/routes.ts";
import { hubRoutes } from "../features/hub/routes.ts";
import { inboxRoutes } from "../features/delivery/routes.ts";
import { keysRoutes } from "../features/keys/routes.ts";
import { leaderboardRoutes } from "../features/leaderboards/routes.ts";
import { lobbyRoutes } from "../features/lobbies/routes.ts";
import { progressRoutes } from "../features/progress/routes.ts";
import { projectionRoutes } from "../features/gamedata/routes.ts";
import { oauthRoutes } from "../features/oauth/routes.ts";
import { questionsRoutes } from "../features/questions/routes.ts";
import { realmsRoutes } from "../features/realms/routes.ts";
import { runRoutes } from "../features/runs/routes.ts";
import { socialRoutes } from "../features/social/routes.ts";
import { systemRoutes } from "../features/system/routes.ts";
import { teamRoutes } from "../features/teams/routes.ts";
import { usersRoutes } from "../features/accounts/routes.ts";
import { verificationRoutes } from "../features/verification/routes.ts";
import { walletRoutes } from "../features/wallet/routes.ts";
import { wordgameRoutes } from "../features/wordgame/routes.ts";
import { openApiRoute } from "../features/docs/openapi-route.ts";
import { pageRoutes } from "../features/pages/routes.ts";
import { statusPageRoutes } from "../features/pages/status-pages.ts";

/**
 * Every route of the public listener. A feature that needs more than `Deps` provides does not compile here.
 */
export const routes: readonly Route<Deps>[] = [
  ...gatewayRoutes,
  ...socialRoutes,
  ...oauthRoutes,
  ...usersRoutes,
  ...avatarRoutes,
  ...verificationRoutes,
  ...realmsRoutes,
  ...keysRoutes,
  ...systemRoutes,
  ...walletRoutes,
  ...questionsRoutes,
  ...progressRoutes,
  ...runRoutes,
  ...leaderboardRoutes,
  ...teamRoutes,
  ...wordgameRoutes,
  ...lobbyRoutes,
  ...hubRoutes(roomKinds),
  ...codexRoutes,
  ...projectionRoutes,
  ...inboxRoutes,
  ...pageRoutes,
  ...statusPageRoutes,
  openApiRoute(() => routes),
];
