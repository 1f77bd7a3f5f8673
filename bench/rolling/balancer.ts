import {
  proxyKinds,
  startProxy,
  type ProxyKind,
  type WebProxy,
} from "../../test/support/web-proxies.ts";

export type BalancerName = "nginx" | "HAProxy";

export function kindOf(name: BalancerName): ProxyKind {
  const kind = proxyKinds.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`no proxy ${name}`);
  return kind;
}

const blocks = {
  nginx: ([one, two]: readonly string[]) => `
    map $http_x_forwarded_proto $proto { default $scheme; }
    upstream emberline { server ${one}:8080; server ${two}:8080; }
    location / {
      proxy_pass http://emberline;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_read_timeout 60s;
    }`,
  HAProxy: ([one, two]: readonly string[]) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend web
  bind :443
  option forwardfor
  default_backend emberline
backend emberline
  option http-server-close
  option redispatch
  option httpchk
  http-check send meth GET uri /ready ver HTTP/1.1 hdr Host emberline
  http-check expect rstatus ^(200|404)$
  default-server check inter 1s fall 2 rise 1
  server one ${one}:8080
  server two ${two}:8080`,
};

/**
 * The configuration that server/http/README.md gives for several instances, in front of these addresses. Release 0.1.0
 * has no probe at its public port, so the check also takes its 404.
 */
export function startBalancer(name: BalancerName, addresses: readonly string[]): Promise<WebProxy> {
  const kind = kindOf(name);
  return startProxy(kind, (port, folder) => kind.configure(blocks[name](addresses), port, folder));
}
