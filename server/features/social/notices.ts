import type { WithConfig } from "../../platform/capabilities.ts";
import type { NoticeTo } from "../verification/notices.ts";

/** Notice of a linked or removed login, with the name that players know the provider by. */
export function loginNotice(
  { config }: WithConfig,
  template: "login-linked" | "login-unlinked",
  id: string,
): NoticeTo {
  const provider = config.oauthProviders.find((one) => one.id === id)?.name ?? id;
  return (to) => ({ template, ...to, params: { provider } });
}
