/** A URL that may be requested, in the one form that rules, cache and connection use. */
import { isIP } from "node:net";
import { driverError } from "../driver-error.ts";
import { isPublicAddress } from "./address.ts";

const MAX_CHARS = 2_000;

export interface PageUrl {
  readonly href: string;
  readonly protocol: "http:" | "https:";
  /** Lower case, in ASCII, without a trailing dot; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
}

/**
 * INVALID: not a web address, one with a user or password, or a host that is not valid or not public. `isPrivate`:
 * true for a host with port that the user's settings name in this network; such URLs keep http.
 */
export function parsePageUrl(text: string, isPrivate: (hostAndPort: string) => boolean): PageUrl {
  const url = parse(text);
  const host = url.hostname
    .replace(/\.$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  if (host === "" || /[%\s]/.test(host)) throw invalid("the host is not a name");
  const isNamed = isPrivate(`${host}:${url.port || (url.protocol === "https:" ? "443" : "80")}`);
  if (!isNamed && url.protocol === "http:") url.protocol = "https:";
  if (!isNamed) checkPublic(host);
  url.hash = "";
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  return { href: url.href, protocol: url.protocol as PageUrl["protocol"], host, port };
}

function parse(text: string): URL {
  if (text.length > MAX_CHARS) throw invalid(`over ${MAX_CHARS} characters`);
  // a parser would silently drop these
  if (/[\p{Cc}\s\\]/u.test(text)) throw invalid("a control character, a blank or a backslash in it");
  if (/%00/i.test(text)) throw invalid("a NUL in it");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw invalid("it cannot be read");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw invalid(`${url.protocol} is not http or https`);
  if (url.username !== "" || url.password !== "") throw invalid("it has a user or password in it");
  if (/^[a-z]+:\/\/[^/?#]*[@%]/i.test(text))
    throw invalid("its host is written in a way that hides where it leads");
  return url;
}

/** PERMISSION: an address of this machine or network. INVALID: a name that cannot be public. */
function checkPublic(host: string): void {
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host))
      throw driverError("Write", "PERMISSION", `web: ${host} is not a public address`);
    return;
  }
  const isLocal = !host.includes(".") || /\.(local|localhost|internal|home\.arpa)$/.test(host);
  if (isLocal) throw invalid(`${host} is not a public host`);
}

function invalid(why: string): Error {
  return driverError("Write", "INVALID", `web: not a URL that can be fetched: ${why}`);
}
