/** Host names in rules and calls: in lower case, in IDNA form, without one trailing dot, compared by whole labels. */
import { BlockList, isIP } from "node:net";

interface HostPattern {
  readonly host: string;
  /** `*.h`: matches the hosts below h, not h itself. */
  readonly subdomains: boolean;
}

/** Parses `h`, `*.h` or `[::1]`; null: not a host. */
export function parseHostName(written: string): HostPattern | null {
  const subdomains = written.startsWith("*.");
  const host = canonicalHost(subdomains ? written.slice(2) : written);
  if (host === null || (subdomains && isIP(host) !== 0)) return null;
  return { host, subdomains };
}

/** `host` is in canonical form. */
export function matchesHost({ host: wanted, subdomains }: HostPattern, host: string): boolean {
  return subdomains ? host.endsWith(`.${wanted}`) : host === wanted;
}

/**
 * The host as a URL would contain it (WHATWG URL, host parsing): numbers become addresses, other scripts become IDNA.
 * IPv6 addresses have no brackets. null: not a host, or more than a host name.
 */
export function canonicalHost(written: string): string | null {
  if (written === "" || written.length > 255 || /[\s\p{Cc}\p{Cf}%@/?#\\*]/u.test(written)) return null;
  const bracketed = isIP(written) === 6 ? `[${written}]` : written;
  let host: string;
  try {
    const url = new URL(`http://${bracketed}/`);
    if (url.port !== "" || url.pathname !== "/") return null;
    host = url.hostname;
  } catch {
    return null;
  }
  if (/:\d+$/.test(bracketed) && !bracketed.endsWith("]")) return null;
  const bare = host.startsWith("[") ? host.slice(1, -1) : host.replace(/\.$/, "");
  return bare === "" ? null : bare;
}

/** Loopback, private, link-local, shared, multicast and reserved networks (RFC 6890, RFC 4291, RFC 6598). */
const CLOSED = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  CLOSED.addSubnet(net, bits, "ipv4");
for (const [net, bits] of [
  ["::", 127],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const)
  CLOSED.addSubnet(net, bits, "ipv6");

/** Whether a canonical host is an address of this machine or of its own network, not of the internet. */
export function isPrivateHost(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  const version = isIP(host);
  if (version === 0) return false;
  // an IPv4 address written as IPv6 is checked as IPv4
  return CLOSED.check(host, version === 4 ? "ipv4" : "ipv6");
}
