/**
 * Decides which addresses are public (IANA special-purpose registries). Any other address is a machine of this
 * network, or this one: no page may direct a request there.
 */
import { BlockList, isIP, isIPv4 } from "node:net";

const SPECIAL_V4 =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4";
/** IPv6 addresses that contain an IPv4 address (mapped or translated) are judged by that address. */
const SPECIAL_V6 =
  "::/128 ::1/128 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8";

const special = new BlockList();
for (const range of SPECIAL_V4.split(" ")) add(range, "ipv4");
for (const range of SPECIAL_V6.split(" ")) add(range, "ipv6");

function add(range: string, family: "ipv4" | "ipv6"): void {
  const [net = "", bits] = range.split("/");
  special.addSubnet(net, Number(bits), family);
}

/** False for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes("%")) return false;
  if (isIPv4(address)) return !special.check(address, "ipv4");
  const inner = innerV4(address);
  if (inner !== undefined) return isPublicAddress(inner);
  return !special.check(address, "ipv6");
}

/** The IPv4 address inside `::ffff:a.b.c.d`, `::a.b.c.d` or `64:ff9b::a.b.c.d`. */
function innerV4(address: string): string | undefined {
  const words = wordsOf(address);
  const [high = 0, low = 0] = words.slice(6);
  const isMapped = words.slice(0, 5).every((word) => word === 0) && (words[5] === 0xffff || words[5] === 0);
  const isTranslated =
    words[0] === 0x64 && words[1] === 0xff9b && words.slice(2, 6).every((word) => word === 0);
  if (!isTranslated && !(isMapped && (words[5] === 0xffff || high > 0))) return undefined;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight 16-bit words of an IPv6 address. */
function wordsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text =
    dotted === null ? address : `${dotted[1]}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}`;
  const [head = "", tail] = text.split("::");
  const parse = (part: string) =>
    part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16));
  const [before, after] = [parse(head), parse(tail ?? "")];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: zeros }, () => 0), ...after];
}

function hex(high: string | undefined, low: string | undefined): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}
