import type { Config } from "./settings.ts";
import { isSafeUrl, type OauthProvider } from "./oauth-providers.ts";

export type OidcRole = "viewer" | "operator" | "admin";

/** Sign-in of operators at an OpenID provider (OPS-83). */
export interface OperatorOidc {
  provider: OauthProvider;
  /** Name of the claim that decides. */
  claim: string;
  /** Role by value of the claim. */
  roles: ReadonlyMap<string, OidcRole>;
}

type Settings = Pick<
  Config,
  | "OPERATOR_OIDC_ISSUER"
  | "OPERATOR_OIDC_CLIENT_ID"
  | "OPERATOR_OIDC_CLIENT_SECRET"
  | "OPERATOR_OIDC_SCOPES"
  | "OPERATOR_OIDC_CLAIM"
  | "OPERATOR_OIDC_ROLES"
>;

/** Null without an issuer. */
export function readOperatorOidc(config: Settings): OperatorOidc | null {
  const issuer = config.OPERATOR_OIDC_ISSUER;
  if (issuer === "") return null;
  return {
    provider: {
      id: "operator",
      name: new URL(issuer).host,
      clientId: config.OPERATOR_OIDC_CLIENT_ID,
      clientSecret: config.OPERATOR_OIDC_CLIENT_SECRET,
      scopes: config.OPERATOR_OIDC_SCOPES,
      responseMode: null,
      endpoints: { kind: "discovered", issuer },
    },
    claim: config.OPERATOR_OIDC_CLAIM,
    roles: rolesOf(config.OPERATOR_OIDC_ROLES),
  };
}

/** The pairs of a setting that its rule has accepted. */
function rolesOf(text: string): Map<string, OidcRole> {
  const pairs = text.split(",").map((pair): [string, OidcRole] => {
    const at = pair.lastIndexOf("=");
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim() as OidcRole];
  });
  return new Map(pairs.filter(([value]) => value !== ""));
}

export function operatorOidcProblems(config: Settings & Pick<Config, "APP_ENV">): string[] {
  const issuer = config.OPERATOR_OIDC_ISSUER;
  const needed = ["OPERATOR_OIDC_CLIENT_ID", "OPERATOR_OIDC_ROLES"] as const;
  if (issuer === "")
    return [...needed, "OPERATOR_OIDC_CLIENT_SECRET" as const]
      .filter((name) => config[name] !== "")
      .map((name) => `${name}: needs OPERATOR_OIDC_ISSUER`);
  const problems = needed
    .filter((name) => config[name] === "")
    .map((name) => `${name}: required by OPERATOR_OIDC_ISSUER`);
  return isSafeUrl(issuer, config.APP_ENV === "production")
    ? problems
    : [...problems, "OPERATOR_OIDC_ISSUER: not an https address"];
}
