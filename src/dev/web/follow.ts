/** A page with the redirects that stay on its host; one that leads elsewhere is told, and is a call of its own. */
import { driverError } from "../driver-error.ts";
import { type Exchange, exchange } from "./exchange.ts";
import { type PageUrl, parsePageUrl } from "./page-url.ts";
import type { WebPorts } from "./ports.ts";

const MAX_REDIRECTS = 10;

export interface Followed {
  readonly last: PageUrl;
  readonly answer: Exchange;
  /** Of another host. */
  readonly redirect: string | null;
}

interface Fetching {
  readonly ports: WebPorts;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  isPrivate(hostAndPort: string): boolean;
}

export async function follow(first: PageUrl, fetching: Fetching): Promise<Followed> {
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const isPrivate = fetching.isPrivate(`${url.host}:${url.port}`);
    const answer = await exchange({ ...fetching, url, isPrivate });
    checkProxy(answer);
    const location = answer.status >= 300 && answer.status < 400 ? answer.headers.location : undefined;
    if (location === undefined) return { last: url, answer, redirect: null };
    const next = target(url, location, fetching);
    if (!isSameHost(url, next)) return { last: url, answer, redirect: next.href };
    url = next;
  }
  throw driverError("Write", "DRIVER", `web: ${first.host}: more than ${MAX_REDIRECTS} redirects`);
}

/** Checked as if it had been asked for. */
function target(from: PageUrl, location: string, { isPrivate }: Fetching): PageUrl {
  const href = URL.canParse(location, from.href) ? new URL(location, from.href).href : location;
  return parsePageUrl(href, isPrivate);
}

function isSameHost(a: PageUrl, b: PageUrl): boolean {
  const bare = ({ host }: PageUrl) => host.replace(/^www\./, "");
  return (
    bare(a) === bare(b) && (a.port === b.port || (a.protocol !== b.protocol && isUsual(a) && isUsual(b)))
  );
}

const isUsual = ({ port }: PageUrl): boolean => port === 80 || port === 443;

function checkProxy({ headers }: Exchange): void {
  if (headers["x-proxy-error"] !== "blocked-by-allowlist") return;
  const proxy = headers.via ?? headers.server ?? "the proxy of this network";
  throw driverError("Write", "PERMISSION", `web: ${proxy} does not let this host through`);
}
