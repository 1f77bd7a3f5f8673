import type { AnyRoute } from "./http/route.ts";
import { avatarRoutes } from "./modules/avatars/routes.ts";
import { codexRoutes } from "./modules/codex/routes.ts";
import { gatewayRoutes } from "./modules/gateway/routes.ts";
import { hubRoutes } from "./modules/hub/routes.ts";
import { inboxRoutes } from "./modules/inbox/routes.ts";
import { keysRoutes } from "./modules/keys/routes.ts";
import { leaderboardRoutes } from "./modules/leaderboards/routes.ts";
import { lobbyRoutes } from "./modules/lobbies/routes.ts";
import { progressRoutes } from "./modules/progress/routes.ts";
import { projectionRoutes } from "./modules/projection/routes.ts";
import { oauthRoutes } from "./modules/oauth/routes.ts";
import { questionsRoutes } from "./modules/questions/routes.ts";
import { realmsRoutes } from "./modules/realms/routes.ts";
import { runRoutes } from "./modules/runs/routes.ts";
import { socialRoutes } from "./modules/social/routes.ts";
import { systemRoutes } from "./modules/system/routes.ts";
import { teamRoutes } from "./modules/teams/routes.ts";
import { usersRoutes } from "./modules/users/routes.ts";
import { verificationRoutes } from "./modules/verification/routes.ts";
import { walletRoutes } from "./modules/wallet/routes.ts";
import { wordgameRoutes } from "./modules/wordgame/routes.ts";
import { openApiRoute } from "./pages/openapi-route.ts";
import { pageRoutes } from "./pages/routes.ts";
import { statusPageRoutes } from "./pages/status-pages.ts";

/** Every address of the public listener. */
export const routes: readonly AnyRoute[] = [
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
  ...hubRoutes,
  ...codexRoutes,
  ...projectionRoutes,
  ...inboxRoutes,
  ...pageRoutes,
  ...statusPageRoutes,
  openApiRoute(() => routes),
];
