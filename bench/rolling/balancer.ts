import { proxyKind, startWebProxy, type WebProxy } from "../../test/support/web-proxies.ts";
import { publicPort } from "./instances.ts";

export type BalancerName = "nginx" | "HAProxy";

/** The shipped file of the balancer, in front of the instances on these hosts. */
export function startBalancer(name: BalancerName, hosts: readonly string[]): Promise<WebProxy> {
  const addresses = hosts.map((host) => `${host}:${publicPort}`);
  return startWebProxy(proxyKind(name), addresses, acceptFirstRelease);
}

/** Release 0.1.0 has no probe at its public port, so the check also takes its 404. */
const acceptFirstRelease = (shipped: string) =>
  shipped.replace("expect status 200", "expect rstatus ^(200|404)$");
